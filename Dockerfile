# docker build -t strandline . && docker run --rm strandline run sps -d x86,unordered --tasks 500

# What building takes; the devcontainer is this stage.
FROM rust:1.95-bookworm AS tools
RUN apt-get update \
    && apt-get install -y --no-install-recommends make python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && rustup component add clippy rustfmt

FROM tools AS wheel
WORKDIR /strandline
COPY . .
RUN python3 -m venv /venv \
    && /venv/bin/pip install --no-cache-dir -r requirements.lock \
    && /venv/bin/maturin build --release --locked --strip --out /wheels

FROM python:3.13-slim-bookworm
COPY --from=wheel /wheels /wheels
RUN pip install --no-cache-dir "$(echo /wheels/*.whl)[plot]" && rm -r /wheels && useradd --create-home user
USER user
WORKDIR /home/user
ENTRYPOINT ["strandline"]
