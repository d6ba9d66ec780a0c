# Builds Holdfast from this clone. docs/how-to/container.md explains how to run the image.

FROM node:26.10.0-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
COPY react-admin/package.json react-admin/
COPY console/package.json console/
COPY tools/node/package.json tools/node/
# Without the Node of the clone.
RUN npm ci --ignore-scripts --no-audit --no-fund --workspace console --include-workspace-root
COPY bin bin
COPY client/src client/src
COPY client/tsconfig.json client/
COPY console console
COPY src src
COPY tools tools
COPY tsconfig.json tsconfig.build.json ./
RUN npm run build -- --complete

FROM node:26.10.0-slim
WORKDIR /app
COPY --from=build /build/bin node_modules/holdfast/bin
COPY --from=build /build/dist node_modules/holdfast/dist
COPY package.json LICENSE CHANGELOG.md node_modules/holdfast/
RUN ln -s /app/node_modules/holdfast/bin/holdfast.js /usr/local/bin/holdfast \
 && install -d -o 1000 -g 1000 -m 700 /data

# The address and the store have priority over the configuration file, which is /app/holdfast.config.ts.
ENV NODE_ENV=production \
    HOLDFAST_HOST=0.0.0.0 \
    HOLDFAST_STORE=sqlite:/data/holdfast.db
USER 1000:1000
VOLUME ["/data"]
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HOLDFAST_PORT ?? 3000}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["holdfast"]
CMD ["serve"]
