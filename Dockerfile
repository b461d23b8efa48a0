# May be an image by its digest: docs/KUBERNETES.md.
ARG PYTHON_IMAGE=python:3.12-slim
FROM ${PYTHON_IMAGE}

WORKDIR /schedviz
COPY requirements/accounts.txt requirements/
RUN python -m pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements/accounts.txt
COPY manage.py ./
COPY simulator simulator
COPY schedviz schedviz
COPY templates templates
COPY locale locale
COPY static static

# The volume of docker-compose.yml for the database of accounts belongs to the user of the image.
RUN useradd --create-home schedviz && install --directory --owner=schedviz --mode=700 /accounts
USER schedviz
EXPOSE 8000
# docker-compose.yml says what else runs: the workers and Redis.
CMD ["python", "manage.py", "web", "--host=0.0.0.0", "--port=8000"]
