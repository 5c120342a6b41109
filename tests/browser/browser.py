"""Debian's chromium without a window, and what it knows of the page that it has loaded."""

import json
import os
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

# Chromium asks nobody for anything by itself.
OPTIONS = [
    "--headless=new",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--hide-scrollbars",
]


class Browser:
    def __init__(self, chromium, driver):
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for option in OPTIONS + (["--no-sandbox"] if os.getuid() == 0 else []):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(driver), options=options)
        self.injected = None
        self.resize(1180, 900)

    def quit(self):
        self.driver.quit()

    def open(self, url, script=None):
        """The script runs before those of the page, and is not bound by its policy."""
        if self.injected is not None:
            self.command("Page.removeScriptToEvaluateOnNewDocument", identifier=self.injected)
            self.injected = None
        if script is not None:
            answer = self.command("Page.addScriptToEvaluateOnNewDocument", source=script)
            self.injected = answer["identifier"]
        self.driver.get("about:blank")
        self.complaints()
        self.requests()
        self.driver.get(url)

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def resize(self, width, height, scale=1):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=scale, mobile=False)

    def prefer(self, **features):
        """What the person wants, such as color_scheme="dark"."""
        wanted = [
            {"name": f"prefers-{name.replace('_', '-')}", "value": value}
            for name, value in features.items()
        ]
        self.command("Emulation.setEmulatedMedia", features=wanted)

    def text(self, selector):
        """None: there is no such element."""
        return self.run("return document.querySelector(arguments[0])?.textContent", selector)

    def texts(self, selector):
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector
        )

    def style(self, selector, name):
        return self.run(
            "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]",
            selector,
            name,
        )

    def complaints(self):
        """What its console has said since this was asked: errors of scripts, loading, policy."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Where it has asked since this was asked. A data: address is not a request."""
        entries = self.driver.get_log("performance")
        events = [json.loads(entry["message"])["message"] for entry in entries]
        urls = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in urls if urlsplit(url).scheme != "data"]
