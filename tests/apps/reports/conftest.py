"""A browser to look at reports with."""

from tests import chromium

browser = chromium.browser
