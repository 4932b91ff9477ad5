# Two images. At the top of the checkout:
#   docker build --target core -t reelbench .                    scoring, boards, pages, chains; no torch (about 1 GB)
#   docker build --target lmms-eval -t reelbench:lmms-eval .     with the lmms-eval stack (about 8 GB)
FROM python:3.12.14-slim@sha256:e5c9fa26ffb76e11e0f054f30dc2523a2f9693f0c36c0cf1e39b27e152d899fc AS core
COPY . /opt/reelbench
RUN pip install --no-cache-dir /opt/reelbench \
    && useradd --create-home reelbench \
    && install --directory --owner reelbench /home/reelbench/.cache/reelbench
USER reelbench
WORKDIR /data
# What is kept between runs: data, frames, replies that were paid for.
VOLUME /home/reelbench/.cache/reelbench
ENTRYPOINT ["reelbench"]

FROM core AS lmms-eval
USER root
RUN pip install --no-cache-dir "/opt/reelbench[lmms-eval]"
USER reelbench
