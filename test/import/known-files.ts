/**
 * Files as known programs write them, in `files/`: with which options an import reads each, and what becomes of it. They were written by
 * hand after the documentation of each program.
 */
import type { CollectionDeclaration } from "../../src/collection/declaration.ts";
import type { Advice } from "../../src/import/items.ts";
import type { ImportTexts } from "../../src/import/options.ts";

/** What a report counts. A number that is missing is 0. */
export interface Numbers {
  /** Resources that had no id. */
  generated?: number;
  /** Resources whose id did not fit. */
  replaced?: number;
  /** Resources whose id was a number. */
  strings?: number;
  /** The converted cells of each column. */
  converted?: Readonly<Record<string, number>>;
}

/** How an import refuses a file. */
export interface Refusal {
  options?: ImportTexts;
  /** The whole message. Without it, the resources at `lines` are invalid. */
  says?: (advice: Advice) => string;
  /** What is wrong with the resources of these lines, and in which attribute. */
  lines?: readonly { line: number; attribute?: string; detail: string }[];
}

/** One file. */
export interface KnownFile {
  /** Its name in `files/`. The part before the dot is the name of its collection. */
  name: string;
  /** The program that writes it, and how. */
  program: string;
  /** The documentation of that program. */
  source: string;
  /** The declared attributes of the collection. @default none */
  properties?: object;
  refused?: Refusal;
  options?: ImportTexts;
  /** The resources that are imported with the options, without ids that were made. Without it, the file is only refused. */
  imported?: readonly Readonly<Record<string, unknown>>[];
  numbers?: Numbers;
  /** The dialog of the console finds the delimiter by itself, and takes only files whose names end as those of CSV and JSON. */
  inConsole?: "finds the delimiter" | "does not take it";
}

const list = (at: string, ...others: readonly string[]): Refusal => ({
  says: (advice) =>
    `The input is one JSON object, with a list of objects in ${[at, ...others].map((name) => `"${name}"`).join(", ")}. To import that list, ${advice("at", at)}. To import the object as one resource, ${advice("at", ".")}.`,
});

const unfitId = (id: string) =>
  `is ${id}, which cannot be an id: an id has 1 to 128 letters, digits, -, ., _ or ~. The import option "ids" gives such resources new ids (replace, or keep-in:oldId to keep the old ones too)`;

const money = { price: { type: "number" }, active: { type: "boolean" } };
const date = { type: "string", format: "date-time" };

const excel =
  "https://support.microsoft.com/en-us/office/import-or-export-text-txt-or-csv-files-5250ac4c-663c-47ce-937b-339e391393ba";
const mongoexport = "https://www.mongodb.com/docs/database-tools/mongoexport/";

export const knownFiles: readonly KnownFile[] = [
  {
    name: "excel-english.csv",
    program: "Excel in English, as “CSV UTF-8”: a byte order mark, CRLF, an empty row",
    source: excel,
    options: { id: "Order No", types: "infer", convert: "booleans" },
    imported: [
      {
        id: "1001",
        Customer: "Müller, Ann",
        Amount: 1234.5,
        Paid: true,
        Ordered: "1/31/2026",
        Note: "Call first\nthen send",
      },
      {
        id: "1002",
        Customer: "O'Brien",
        Amount: 99.9,
        Paid: false,
        Ordered: "2/1/2026",
        Note: '5" pipe',
      },
      { id: "1003" },
    ],
    numbers: { converted: { Paid: 2 } },
  },
  {
    name: "excel-german.csv",
    program: "Excel in German, with the line that names the delimiter",
    source: excel,
    options: { id: "Artikel", types: "infer", convert: "numbers" },
    imported: [
      {
        id: "A-1",
        Bezeichnung: 'Schraube 5"; verzinkt',
        Preis: 12.5,
        "Auf Lager": "WAHR",
        Datum: "31.01.2026",
      },
      { id: "A-2", Bezeichnung: "Größe XL", Preis: 1234.99, "Auf Lager": "FALSCH", Datum: "01.02.2026" },
      { id: "A-3", Bezeichnung: "Öl", Preis: -0.75, "Auf Lager": "WAHR" },
    ],
    numbers: { converted: { Preis: 3 } },
  },
  {
    name: "excel-german-header.csv",
    program: "Excel in German: a name that ends with a dot",
    source: excel,
    refused: {
      options: { delimiter: ";" },
      says: () =>
        'Column 1 of the header is "Artikel-Nr.", with an empty name before or after a dot. A dot leads into an object: rename the column, for example to "Artikel-Nr".',
    },
  },
  {
    name: "excel-windows-1252.csv",
    program: "Excel in German, as “CSV” without UTF-8",
    source: excel,
    refused: {
      options: { delimiter: ";" },
      lines: [{ line: 3, detail: 'is not UTF-8: save the file as "CSV UTF-8"; the rest was not read' }],
    },
  },
  {
    name: "google-sheets.csv",
    program: "Google Sheets: CRLF, no line break at the end, formatted amounts, #N/A",
    source: "https://support.google.com/docs/answer/40608",
    options: { types: "infer", convert: "booleans" },
    imported: [
      {
        id: "sku-1",
        Product: "Lamp, small",
        Price: "$1,234.50",
        "In stock": true,
        Updated: "2026-01-31",
        Link: "https://example.com/?a=1",
      },
      {
        id: "sku-2",
        Product: "Chair",
        Price: "$99.00",
        "In stock": false,
        Updated: "2026-02-01",
        Link: "#N/A",
      },
      { id: "sku-3", Product: "Two\nlines", "In stock": false, Link: "+49 30 1234" },
    ],
    numbers: { converted: { "In stock": 3 } },
  },
  {
    name: "libreoffice.csv",
    program: "LibreOffice, with tabs and “Quote all text cells”",
    source: "https://help.libreoffice.org/latest/en-US/text/shared/00/00000207.html",
    refused: {
      says: (advice) =>
        `The header has tab behind a name in quotes. If it separates the columns, ${advice("delimiter", "tab")}.`,
    },
    options: { delimiter: "tab", types: "infer" },
    imported: [
      { Code: "00123", Name: 'Zoë "Z" Smith', Amount: 12.5, "Member since": "2026-01-31", Active: "TRUE" },
      { Code: "00124", Name: "Tab\\there", Amount: 3, "Member since": "2026-02-01", Active: "FALSE" },
      { Code: "00125", "Member since": "2026-02-02" },
    ],
    numbers: { generated: 3 },
    inConsole: "finds the delimiter",
  },
  {
    name: "postgres-copy.csv",
    program: "PostgreSQL, COPY … TO … (FORMAT csv, HEADER)",
    source: "https://www.postgresql.org/docs/current/sql-copy.html",
    properties: {
      ...money,
      name: { type: "string" },
      note: { type: "string" },
      tags: { type: "array", items: { type: ["string", "null"] } },
      scores: { type: "array", items: { type: "integer" } },
      data: { type: ["array", "object", "null"] },
      created_at: date,
    },
    options: { convert: "booleans,times,arrays" },
    imported: [
      {
        id: "1",
        name: "Ada, B.",
        note: "",
        active: true,
        price: 12.5,
        tags: ["red", "dark blue", null],
        scores: [1, 2],
        data: { a: 1 },
        created_at: "2026-01-02T03:04:05.123Z",
        file: "\\x68690a",
      },
      {
        id: "2",
        name: 'say "hi"',
        active: false,
        price: 0.1,
        tags: [],
        data: [1, null],
        created_at: "2026-01-02T03:04:05.000Z",
      },
      {
        id: "3",
        name: "NULL",
        note: "two\nlines",
        active: true,
        tags: ["a"],
        scores: [3],
        data: null,
        created_at: "2026-06-30T18:30:00.500Z",
      },
    ],
    numbers: { converted: { active: 3, tags: 3, scores: 2, created_at: 3 } },
  },
  {
    name: "postgres-row-to-json.ndjson",
    program: 'PostgreSQL, psql -At -c "SELECT row_to_json(t) FROM t"',
    source: "https://www.postgresql.org/docs/current/functions-json.html",
    imported: [
      {
        id: "1",
        name: 'Ada "B" \\ C',
        price: 12.5,
        active: true,
        tags: ["red", null],
        data: { a: 1 },
        created_at: "2026-01-02T03:04:05.123456+00:00",
        note: null,
      },
      {
        id: "2",
        name: "Zoë",
        price: 0.1,
        active: false,
        tags: [],
        data: [1, null],
        created_at: "2026-01-02T05:04:05+02:00",
        note: "two\nlines",
      },
    ],
    numbers: { strings: 2 },
  },
  {
    name: "mysql-outfile.csv",
    program:
      "MySQL, SELECT 'id', … UNION ALL SELECT … INTO OUTFILE … FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"'",
    source: "https://dev.mysql.com/doc/refman/8.4/en/select-into.html",
    properties: { ...money, created_at: date },
    options: { convert: "booleans,times,nulls", timezone: "UTC" },
    imported: [
      {
        id: "1",
        name: 'Ada "B", C',
        note: "one \\ two",
        price: 12.5,
        active: true,
        created_at: "2026-01-02T03:04:05.000Z",
      },
      { id: "2", name: "Zoë", price: 0.1, active: false, created_at: "2026-01-02T03:04:06.000Z" },
      { id: "3", name: "line\nbreak", active: true },
    ],
    numbers: { converted: { note: 2, price: 1, active: 3, created_at: 3 } },
  },
  {
    name: "mysqldump.txt",
    program: "mysqldump --tab, with a row of names added",
    source: "https://dev.mysql.com/doc/refman/8.4/en/mysqldump-delimited-text.html",
    refused: {
      says: (advice) =>
        `The header has only one column, "id\\tname\\tnote\\tprice". If tab separates the columns, ${advice("delimiter", "tab")}. If "," separates them, ${advice("delimiter", ",")}.`,
    },
    options: { delimiter: "tab", convert: "nulls" },
    imported: [
      { id: "1", name: "Ada", price: "12.50" },
      { id: "2", name: "Zoë" },
    ],
    numbers: { converted: { note: 2, price: 1 } },
    inConsole: "does not take it",
  },
  {
    name: "sqlite.csv",
    program: "SQLite, .headers on and .mode csv: CRLF, an empty text in quotes, a NULL without",
    source: "https://www.sqlite.org/cli.html",
    properties: money,
    options: { convert: "booleans" },
    imported: [
      { id: "1", name: "Ada, B.", price: 12.5, active: true, created_at: "2026-01-02 03:04:05" },
      { id: "2", name: 'say "hi"', note: "", price: 2, active: false, created_at: "2026-01-02 03:04:06" },
      { id: "3", name: "Zoë", note: "two\nlines", active: true },
    ],
    numbers: { converted: { active: 3 } },
  },
  {
    name: "mongoexport.jsonl",
    program: "MongoDB, mongoexport",
    source: mongoexport,
    options: { id: "_id.$oid" },
    imported: [
      {
        id: "65f0c0ffee65f0c0ffee65f0",
        name: "Ada",
        born: { $date: "2026-01-02T03:04:05.123Z" },
        visits: 5,
        tags: ["a"],
      },
      {
        id: "65f0c0ffee65f0c0ffee65f1",
        name: "Zoë",
        total: { $numberDecimal: "12.50" },
        team: { $oid: "65f0c0ffee65f0c0ffee65aa" },
      },
    ],
  },
  {
    name: "mongoexport-array.json",
    program: "MongoDB, mongoexport --jsonArray --jsonFormat=canonical",
    source: "https://www.mongodb.com/docs/manual/reference/mongodb-extended-json/",
    options: { id: "_id.$oid" },
    imported: [
      {
        id: "65f0c0ffee65f0c0ffee65f0",
        name: "Ada",
        visits: { $numberInt: "5" },
        born: { $date: { $numberLong: "1767323045123" } },
      },
      { id: "65f0c0ffee65f0c0ffee65f1", name: "Zoë" },
    ],
  },
  {
    name: "mongoexport-csv.csv",
    program: "MongoDB, mongoexport --type=csv --fields=…",
    source: mongoexport,
    refused: {
      options: { id: "_id" },
      lines: [2, 3].map((line) => ({
        line,
        attribute: "id",
        detail: unfitId(`"ObjectId(65f0c0ffee65f0c0ffee65f${line - 2})"`),
      })),
    },
    options: { id: "_id", ids: "keep-in:oldId" },
    imported: [
      {
        name: "Ada",
        address: { city: "London" },
        tags: '["a","b"]',
        born: "2026-01-02T03:04:05.123Z",
        oldId: "ObjectId(65f0c0ffee65f0c0ffee65f0)",
      },
      { name: "Zoë", oldId: "ObjectId(65f0c0ffee65f0c0ffee65f1)" },
    ],
    numbers: { replaced: 2 },
  },
  {
    name: "places.geojson",
    program: "GeoJSON, as ogr2ogr and QGIS write it",
    source: "https://www.rfc-editor.org/rfc/rfc7946",
    refused: list("features"),
    options: { at: "features", ids: "keep-in:oldId" },
    imported: [
      {
        id: "7",
        type: "Feature",
        properties: { name: "Berlin", pop: 3_700_000 },
        geometry: { type: "Point", coordinates: [13.4, 52.52] },
      },
      { type: "Feature", properties: { name: null }, geometry: null, oldId: "way/42" },
    ],
    numbers: { replaced: 1, strings: 1 },
  },
  {
    name: "json-server.json",
    program: "json-server, one collection of its database",
    source: "https://github.com/typicode/json-server",
    refused: list("posts", "comments"),
    options: { at: "posts" },
    imported: [
      { id: "1", title: "a title", views: 100 },
      { id: "2", title: "another title", views: 200 },
    ],
  },
  {
    name: "strapi.json",
    program: "Strapi 4, a response of its REST API",
    source: "https://docs-v4.strapi.io/dev-docs/api/rest",
    refused: list("data"),
    options: { at: "data" },
    imported: [
      {
        id: "1",
        attributes: {
          title: "Winter",
          publishedAt: "2026-01-02T03:04:05.123Z",
          author: { data: { id: 3, attributes: { name: "Ada" } } },
        },
      },
      { id: "2", attributes: { title: "Summer", publishedAt: null, author: { data: null } } },
    ],
    numbers: { strings: 2 },
  },
  {
    name: "directus.json",
    program: "Directus, an export as JSON",
    source: "https://docs.directus.io/reference/query.html#export",
    imported: [
      {
        id: "8b1e2f64-3c1d-4a0e-9a51-0d1b7f1c2a33",
        status: "published",
        title: "Winter",
        tags: ["snow", "cold"],
        date_created: "2026-01-02T03:04:05.123Z",
        author: { id: 1, name: "Ada" },
      },
      {
        id: "8b1e2f64-3c1d-4a0e-9a51-0d1b7f1c2a34",
        status: "draft",
        title: "Summer",
        tags: null,
        date_created: "2026-01-02T03:04:05.000Z",
        author: null,
      },
    ],
  },
  {
    name: "directus-csv.csv",
    program: "Directus, an export as CSV: a column for an attribute of a related item",
    source: "https://docs.directus.io/reference/query.html#export",
    properties: { tags: { type: "array" }, sort: { type: "integer" } },
    imported: [
      {
        id: "1",
        status: "published",
        title: "Winter",
        tags: ["snow", "cold"],
        date_created: "2026-01-02T03:04:05.123Z",
        author: { name: "Ada" },
      },
      { id: "2", status: "draft", title: 'Say "hi"', sort: 3, date_created: "2026-01-02T03:04:05.000Z" },
    ],
  },
  {
    name: "airtable-csv.csv",
    program: "Airtable, “Download CSV” of a view: a byte order mark, linked records, attachments",
    source: "https://support.airtable.com/docs",
    imported: [
      {
        Name: "Plan",
        Notes: "First line\nsecond line",
        Assignee: "Ada Byron, Bob Kahn",
        Status: "In progress",
        Done: "checked",
        Due: "1/31/2026",
        Attachments: "plan.pdf (https://v5.airtableusercontent.com/v3/u/1/plan.pdf)",
        Amount: "$1,200.00",
      },
      { Name: "Build", Status: "Todo" },
    ],
    numbers: { generated: 2 },
  },
  {
    name: "airtable.json",
    program: "Airtable, a response of its API",
    source: "https://airtable.com/developers/web/api/list-records",
    refused: list("records"),
    options: { at: "records" },
    imported: [
      {
        id: "recA1b2C3d4E5f6G7",
        createdTime: "2026-01-02T03:04:05.000Z",
        fields: { Name: "Plan", Done: true, Assignee: ["recZ9y8X7w6V5u4T3"] },
      },
      { id: "recA1b2C3d4E5f6G8", createdTime: "2026-01-02T03:04:06.000Z", fields: { Name: "Build" } },
    ],
  },
  {
    name: "pandas-index.csv",
    program: "pandas, to_csv with the index",
    source: "https://pandas.pydata.org/docs/reference/api/pandas.DataFrame.to_csv.html",
    refused: { says: () => "Column 1 of the header has no name: give it one, or remove the column." },
  },
  {
    name: "pandas.csv",
    program: "pandas, to_csv(index=False)",
    source: "https://pandas.pydata.org/docs/reference/api/pandas.DataFrame.to_csv.html",
    options: { types: "infer", convert: "booleans,times" },
    imported: [
      {
        name: "Ada",
        score: 12.5,
        small: "1e-05",
        active: true,
        seen: "2026-01-02T03:04:05.123Z",
        big: "2.0",
      },
      { name: "Zoë", score: 3.25, active: false, seen: "2026-01-02T03:04:06.000Z", big: "0.1" },
      { name: 'a, "b"', small: "0.5", active: true, big: "7.0" },
    ],
    numbers: { generated: 3, converted: { active: 3, seen: 2 } },
  },
  {
    name: "pandas-lines.jsonl",
    program: 'pandas, to_json(orient="records", lines=True)',
    source: "https://pandas.pydata.org/docs/reference/api/pandas.DataFrame.to_json.html",
    imported: [
      {
        id: "1",
        name: "Ada",
        url: "https://example.com/a",
        score: 12.5,
        seen: 1_767_323_045_123,
        active: true,
      },
      { id: "2", name: "Zoë", url: null, score: null, seen: null, active: false },
    ],
    numbers: { strings: 2 },
  },
  {
    name: "pocketbase.json",
    program: "PocketBase, a response of its API",
    source: "https://pocketbase.io/docs/api-records/",
    refused: list("items"),
    options: { at: "items" },
    imported: [
      {
        id: "ae40239d2bc4477",
        collectionId: "a98f514eb05f454",
        collectionName: "posts",
        created: "2026-01-02 03:04:05.123Z",
        updated: "2026-01-02 03:04:05.123Z",
        title: "test1",
      },
      {
        id: "d08dfc4f4d84419",
        collectionId: "a98f514eb05f454",
        collectionName: "posts",
        created: "2026-01-02 03:04:06.000Z",
        updated: "2026-01-02 03:04:06.000Z",
        title: "",
      },
    ],
  },
  {
    name: "firebase.json",
    program: "Firebase Realtime Database, “Export JSON”: objects with the ids as names, and no list",
    source: "https://firebase.google.com/docs/database/web/structure-data",
    refused: {
      options: { at: "users" },
      says: () =>
        'The member "users" of the input is an object, not a list: write its members as a list, each with its name as "id".',
    },
  },
  {
    name: "firestore.json",
    program: "Firestore, a response of its REST API",
    source: "https://firebase.google.com/docs/firestore/reference/rest/v1/projects.databases.documents/list",
    refused: list("documents"),
    options: { at: "documents", id: "name", ids: "keep-in:oldId" },
    imported: [
      {
        fields: { name: { stringValue: "San Francisco" }, people: { integerValue: "860000" } },
        createTime: "2026-01-02T03:04:05.123456Z",
        updateTime: "2026-01-02T03:04:05.123456Z",
        oldId: "projects/shop/databases/(default)/documents/cities/SF",
      },
    ],
    numbers: { replaced: 1 },
  },
  {
    name: "django.json",
    program: "Django, dumpdata",
    source: "https://docs.djangoproject.com/en/stable/topics/serialization/",
    options: { id: "pk" },
    imported: [
      {
        id: "1",
        model: "blog.entry",
        fields: { title: "Winter", published: "2026-01-02T03:04:05.123Z", price: "12.50", tags: [1, 2] },
      },
      { id: "2", model: "blog.entry", fields: { title: "Zoë", published: null, price: "0.10", tags: [] } },
    ],
    numbers: { strings: 2 },
  },
  {
    name: "shopify.csv",
    program: "Shopify, an export of products: several rows of one product",
    source: "https://help.shopify.com/en/manual/products/import-export/using-csv",
    imported: [
      {
        Handle: "wool-hat",
        Title: "Wool hat",
        "Body (HTML)": '<p>Warm, "soft"\nhat</p>',
        Vendor: "Acme",
        Published: "TRUE",
        "Option1 Name": "Size",
        "Option1 Value": "S",
        "Variant SKU": "'0001",
        "Variant Grams": "100",
        "Variant Price": "19.90",
        "Image Src": "https://cdn.shopify.com/a.jpg?v=1",
      },
      {
        Handle: "wool-hat",
        "Option1 Value": "M",
        "Variant SKU": "'0002",
        "Variant Grams": "120",
        "Variant Price": "19.90",
      },
      {
        Handle: "scarf",
        Title: "Scarf",
        Vendor: "Acme",
        Published: "FALSE",
        "Option1 Name": "Title",
        "Option1 Value": "Default Title",
        "Variant Grams": "80",
        "Variant Price": "9.00",
        "Google Shopping / Gender": "Unisex",
      },
    ],
    numbers: { generated: 3 },
  },
  {
    name: "stripe.csv",
    program: "Stripe, an export of payments: times in UTC without an offset",
    source: "https://support.stripe.com/questions/exporting-payment-reports",
    refused: {
      options: { types: "infer", convert: "times" },
      says: (advice) =>
        `The column "Created date (UTC)" has times without an offset from UTC, such as "2026-01-02 03:04:05" on line 2. If they are times in Berlin, for example, ${advice("timezone", "Europe/Berlin")}.`,
    },
    options: { types: "infer", convert: "times", timezone: "UTC" },
    imported: [
      {
        id: "ch_3OaBcD",
        "Created date (UTC)": "2026-01-02T03:04:05.000Z",
        Amount: "12.50",
        "Amount Refunded": "0.00",
        Currency: "eur",
        Captured: true,
        "Converted Amount": "12.50",
        Description: "Order 1, paid",
        "Customer Email": "ada@example.com",
        "order_id (metadata)": "0042",
      },
      {
        id: "ch_3OaBcE",
        "Created date (UTC)": "2026-01-02T03:05:00.000Z",
        Amount: "1,234.00",
        "Amount Refunded": "0.00",
        Currency: "eur",
        Captured: false,
        "Converted Amount": "1,234.00",
      },
    ],
    numbers: { converted: { "Created date (UTC)": 2 } },
  },
  {
    name: "woocommerce.csv",
    program: "WooCommerce, an export of products: a byte order mark, escaped commas, serialised PHP",
    source: "https://github.com/woocommerce/woocommerce/wiki/Product-CSV-Import-Schema",
    options: { id: "ID" },
    imported: [
      {
        id: "44",
        Type: "variable",
        SKU: "hat",
        "GTIN, UPC, EAN, or ISBN": "4006381333931",
        Name: 'Hat "Nord"',
        Published: "1",
        "Is featured?": "0",
        "Short description": "Warm.\\nSoft.",
        Categories: "Clothing > Hats, Winter\\, new",
        "Attribute 1 name": "Size",
        "Attribute 1 value(s)": "S, M",
      },
      {
        id: "45",
        Type: "variation",
        SKU: "hat-s",
        Name: "Hat - S",
        Published: "-1",
        "Is featured?": "0",
        "Regular price": "19.9",
        "Attribute 1 name": "Size",
        "Attribute 1 value(s)": "S",
        "Meta: _custom": 'a:1:{i:0;s:1:"x";}',
      },
    ],
  },
  {
    name: "salesforce.csv",
    program: "Salesforce Data Loader: all cells in quotes, a column for an attribute of a related record",
    source: "https://developer.salesforce.com/docs/atlas.en-us.dataLoader.meta/dataLoader/exporting_data.htm",
    options: { id: "ID", types: "infer", convert: "times" },
    imported: [
      {
        id: "0065g00000ABCdEAAX",
        NAME: 'Deal "A"',
        ACCOUNT: { NAME: "Acme, Inc." },
        ISDELETED: false,
        AMOUNT: 1200.5,
        CREATEDDATE: "2026-01-02T03:04:05.000Z",
        DESCRIPTION: "two\nlines",
      },
      {
        id: "0065g00000ABCdFAAX",
        NAME: "Deal B",
        ACCOUNT: { NAME: "" },
        ISDELETED: true,
        CREATEDDATE: "2026-01-02T03:04:06.000Z",
        DESCRIPTION: "",
      },
    ],
    numbers: { converted: { CREATEDDATE: 2 } },
  },
];

/** The name of the collection of a file. */
export function collectionFor({ name }: KnownFile): string {
  return name.replace(/\..*/, "");
}

/** A collection for each file. */
export const collections: Readonly<Record<string, CollectionDeclaration>> = Object.fromEntries(
  knownFiles.map((file) => [
    collectionFor(file),
    file.properties === undefined
      ? {}
      : { schema: { type: "object", properties: file.properties, additionalProperties: true } },
  ]),
);

/** Resources as the table has them: without ids that were made, in an order of their own. */
export function comparable(resources: readonly object[], { imported = [] }: KnownFile): object[] {
  const ids = new Set(imported.map(({ id }) => id));
  return (resources as readonly Record<string, unknown>[])
    .map(({ id, ...attributes }) => (id !== undefined && ids.has(id) ? { id, ...attributes } : attributes))
    .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}
