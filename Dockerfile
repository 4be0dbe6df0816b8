# Builds `poi` with a static Swift runtime and puts it, with the migrations, on a slim Debian.

FROM swift:6.3-bookworm AS build
WORKDIR /build
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        pkg-config libuv1-dev libpq-dev node-llhttp libproj-dev zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
COPY Package.swift ./
COPY Sources Sources
# The manifest names the tests' folders; their contents aren't needed to build the program.
COPY Tests Tests
RUN swift build -c release --product poi --static-swift-stdlib \
    && install -D -s "$(swift build -c release --static-swift-stdlib --show-bin-path)/poi" /out/poi

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libuv1 libpq5 libproj25 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin poi
COPY --from=build /out/poi /usr/local/bin/poi
COPY Migrations /usr/local/share/poi/Migrations
USER poi
ENV HOST=0.0.0.0 PORT=8080
EXPOSE 8080
ENTRYPOINT ["poi"]
CMD ["serve"]
