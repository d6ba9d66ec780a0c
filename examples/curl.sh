#!/usr/bin/env bash
# Every kind of request, to a service without a configuration. Run: npm start, then examples/curl.sh
set -euo pipefail
topics="${1:-http://127.0.0.1:3000/api/v1}/topics"
json='Content-Type: application/json'
key="Idempotency-Key: example-$(date +%s)-$$" # a new one for each thing to be done

echo '# Create. The answer has the new id, and the ETag of version 1.'
created=$(curl -sS "$topics" -H "$json" -H "$key" -d '{"title":"Hello","views":1}')
echo "$created"
id=$(echo "$created" | sed -E 's/.*"id":"([^"]+)".*/\1/')

echo '# The same again: the connection was lost, say. It is created once.'
curl -sS "$topics" -H "$json" -H "$key" -d '{"title":"Hello","views":1}'

echo; echo '# Read, and change a part of what was read, unless somebody else has.'
curl -sSi "$topics/$id" | grep -i '^etag'
curl -sS -X PATCH "$topics/$id" -H "$json" -H 'If-Match: "1"' -d '{"views":2}'

echo; echo '# The same from somebody who has not seen that: 412.'
curl -sS -o /dev/null -w '%{http_code}\n' -X PATCH "$topics/$id" -H "$json" -H 'If-Match: "1"' -d '{"views":9}'

echo '# List: filtered, sorted, the first two, some of the attributes.'
curl -sS "$topics?views:gte=2&sort=-views&limit=2&fields=title"

echo; echo '# What is not understood is refused, with what would be right.'
curl -sS "$topics?views:gtee=2" | sed -E 's/.*"message":"(([^"\\]|\\.)*)".*/\1/'

echo; echo '# Delete: 205, and from then on 404.'
curl -sS -o /dev/null -w '%{http_code}\n' -X DELETE "$topics/$id"
curl -sS -o /dev/null -w '%{http_code}\n' "$topics/$id"
