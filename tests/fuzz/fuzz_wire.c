/*
 * TLV and LTV: any bytes.
 */
#include "config.h"

#include "framing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_framing(&framing_tlv, data, size, fuzz_encodes_to_itself);
	fuzz_framing(&framing_ltv, data, size, fuzz_encodes_to_itself);
	return 0;
}
