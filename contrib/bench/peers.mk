# The peers of the comparison are built by hand: they need Go and its module proxy.
EXTRA_DIST += \
	contrib/bench/peers/gnet/go.mod \
	contrib/bench/peers/gnet/go.sum \
	contrib/bench/peers/gnet/main.go \
	contrib/bench/peers/zinx/go.mod \
	contrib/bench/peers/zinx/go.sum \
	contrib/bench/peers/zinx/main.go \
	contrib/bench/peers/zinx/patch/after.go \
	contrib/bench/peers/zinx/patch/newest.go
