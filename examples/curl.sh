#!/usr/bin/env bash
# Every kind of request, to a service without a configuration. Run: npm start, then examples/curl.sh
set -euo pipefail
topics="${1:-http://127.0.0.1:3000/api/v1}/topics"
json='Content-Type: application/json'
key="Idempotency-Key: example-$(date +%s)-$$" # a new key for each new write

echo '# Create a topic. The response has its id, and the ETag of version 1.'
created=$(curl -sS "$topics" -H "$json" -H "$key" -d '{"title":"Hello","views":1}')
echo "$created"
id=$(echo "$created" | sed -E 's/.*"id":"([^"]+)".*/\1/')

echo '# Retry with the same key, as after a lost connection. The topic is created only once.'
curl -sS "$topics" -H "$json" -H "$key" -d '{"title":"Hello","views":1}'

echo; echo '# Read the topic. Then patch it, if it still has the version that you read.'
curl -sSi "$topics/$id" | grep -i '^etag'
curl -sS -X PATCH "$topics/$id" -H "$json" -H 'If-Match: "1"' -d '{"views":2}'

echo; echo '# A client that read the old version gets 412.'
curl -sS -o /dev/null -w '%{http_code}\n' -X PATCH "$topics/$id" -H "$json" -H 'If-Match: "1"' -d '{"views":9}'

echo '# List: filter, sort, limit the page, choose attributes.'
curl -sS "$topics?views:gte=2&sort=-views&limit=2&fields=title"

echo; echo '# A misspelled operator is refused. The message says what would be right.'
curl -sS "$topics?views:gtee=2" | sed -E 's/.*"message":"(([^"\\]|\\.)*)".*/\1/'

echo; echo '# Delete: 205. After that, the topic is 404.'
curl -sS -o /dev/null -w '%{http_code}\n' -X DELETE "$topics/$id"
curl -sS -o /dev/null -w '%{http_code}\n' "$topics/$id"
