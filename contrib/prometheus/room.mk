# For those who watch runneld: what Prometheus scrapes and warns of, and what Grafana shows.
EXTRA_DIST += \
	contrib/grafana/runnel.json \
	contrib/prometheus/runnel-alerts-test.yml \
	contrib/prometheus/runnel-alerts.yml \
	contrib/prometheus/scrape.yml
