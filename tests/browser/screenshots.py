"""screenshots.py FOLDER: the status page under load, as README.md shows it."""

import os
import sys
import time
from pathlib import Path

from browser import Browser
from daemon import Daemon

# What the charts show, and a little more.
LOAD_S = 125


def take(browser, path):
    height = browser.run("return document.documentElement.scrollHeight")
    browser.resize(1180, height)
    browser.driver.save_screenshot(str(path))
    print(path)


def main():
    into = Path(sys.argv[1])
    browser = Browser(os.environ["CHROMIUM"], os.environ["CHROMEDRIVER"])
    daemon = Daemon(os.environ["BUILD"], os.environ["TMPDIR"])
    try:
        daemon.start()
        browser.open(daemon.url)
        with daemon.load(2000, "--think", "200ms", "--mix"):
            time.sleep(LOAD_S * 0.4)
            with daemon.load(800, "--think", "120ms", "--reconnect", "1%"):
                time.sleep(LOAD_S * 0.35)
            time.sleep(LOAD_S * 0.25)
            for scheme in ("light", "dark"):
                browser.prefer(color_scheme=scheme)
                take(browser, into / f"status-page-{scheme}.png")
    finally:
        daemon.stop()
        browser.quit()


main()
