# Builds `poi` with a static Swift runtime and puts it, with the migrations, on a slim Debian.
# scripts/checks/check-image does these very steps in chroots, where there is no container engine.

FROM swift:6.3-bookworm AS build
WORKDIR /build
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        pkg-config libuv1-dev libpq-dev node-llhttp libproj-dev zlib1g-dev libisal-dev libssl-dev \
    && rm -rf /var/lib/apt/lists/*
COPY Package.swift ./
COPY Sources Sources
# Of the package, only the program and what it needs: the manifest then names no folder of tests or benchmarks.
ENV POI_TARGETS=poi
RUN swift build -c release --product poi --static-swift-stdlib \
    && install -D -s "$(swift build -c release --static-swift-stdlib --show-bin-path)/poi" /out/poi

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Points of Interest" \
    org.opencontainers.image.description="Places near a coordinate, from PostgreSQL, over HTTP" \
    org.opencontainers.image.licenses="Apache-2.0"
# The libraries are Debian's, which is where their security updates come from: build again to have them.
# curl downloads the files of datasets (poi refresh). Of PROJ only the geodesics are used, which need none of its tables.
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates curl libuv1 libpq5 libproj25 zlib1g libisal2 libssl3 libjs-leaflet \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/* /usr/share/proj \
    && useradd --system --uid 10001 --user-group --no-create-home --home-dir /nonexistent \
        --shell /usr/sbin/nologin poi \
    && install -d -o poi -g poi -m 0700 /var/lib/poi
COPY --from=build /out/poi /usr/local/bin/poi
COPY Migrations /usr/local/share/poi/Migrations
# A number, so that Kubernetes can see that it isn't root.
USER 10001:10001
ENV HOST=0.0.0.0 PORT=8080 POI_MIGRATIONS_DIR=/usr/local/share/poi/Migrations
EXPOSE 8080 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s --retries=3 CMD ["poi", "healthcheck"]
ENTRYPOINT ["poi"]
CMD ["serve"]
