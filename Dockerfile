# The demo in a container: docker build -t nonneg . && docker run --rm -v "$PWD/out:/out" nonneg
FROM python:3.13-slim
RUN apt-get update && apt-get install --yes --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /nonneg
COPY . .
RUN make demo
CMD ["cp", "demo.html", "/out/demo.html"]
