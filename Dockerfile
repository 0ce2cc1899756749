# syntax=docker/dockerfile:1
# docker build -t nmspeller . && docker run --rm -p 127.0.0.1:8081:8081 -e NMSPELLER_API_KEY=… nmspeller
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE NOTICE ./
COPY native ./native
COPY src ./src
RUN python -m venv /opt/nmspeller && NMSPELLER_NATIVE=1 /opt/nmspeller/bin/pip install --no-cache-dir ".[serve]"

FROM python:3.12-slim
COPY --from=build /opt/nmspeller /opt/nmspeller
RUN useradd --system --no-create-home --shell /usr/sbin/nologin nmspeller
USER nmspeller
ENV PATH=/opt/nmspeller/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
EXPOSE 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s \
  CMD ["python", "-c", "import http.client; c = http.client.HTTPConnection('127.0.0.1', 8081, timeout=8); c.request('GET', '/healthz'); exit(c.getresponse().status != 200)"]
# It does not start without NMSPELLER_API_KEY, because it listens on a public address.
ENTRYPOINT ["nmspeller", "serve", "--host", "0.0.0.0"]
