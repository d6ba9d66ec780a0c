/** Real data with schemas that describe it closely: every city and country fits. Run: npm run demo */
import { defineConfig } from "holdfast";

const countryCode = { type: "string", pattern: "^[A-Z]{2}$" };
const alpha3 = { type: "string", pattern: "^[A-Z]{3}$" };
const shortText = { type: "string", maxLength: 100 };

/** Decimal degrees as text, as in GeoNames: at most five digits after the point. */
const latitude = { type: "string", pattern: "^-?(90|[1-8]?[0-9](\\.[0-9]{1,5})?)$" };
const longitude = { type: "string", pattern: "^-?(180|(1[0-7][0-9]|[1-9]?[0-9])(\\.[0-9]{1,5})?)$" };

const names = {
  type: "object",
  required: ["official", "common"],
  properties: {
    official: { type: "string", minLength: 1, maxLength: 100 },
    common: { type: "string", minLength: 1, maxLength: 100 },
  },
};

/** An object whose member names are codes of languages or currencies. */
const by = (code: string, value: object) => ({
  type: "object",
  patternProperties: { [code]: value },
  additionalProperties: false,
});
const byLanguage = (value: object) => by("^[a-z]{3}$", value);

const demonym = { type: "object", required: ["f", "m"], properties: { f: shortText, m: shortText } };

export default defineConfig({
  collections: {
    cities: {
      // Each attribute on its own, and the combinations that requests use. An index serves one direction of a sort.
      indexes: [
        "name",
        "-name",
        "country",
        "-country",
        "admin1",
        "admin2",
        "lat",
        "lng",
        ["country", "name"],
        ["country", "admin1", "name"],
      ],
      search: ["name"],
      schema: {
        type: "object",
        required: ["name", "lat", "lng", "country", "admin1", "admin2"],
        properties: {
          name: { type: "string", minLength: 1, maxLength: 200 },
          lat: latitude,
          lng: longitude,
          country: countryCode,
          admin1: { type: "string", maxLength: 20 },
          admin2: { type: "string", maxLength: 80 },
        },
      },
    },
    countries: {
      // Reading all 250 resources takes a few milliseconds, so their lists need no index.
      search: ["name.common", "name.official", "capital", "altSpellings"],
      schema: {
        type: "object",
        required: ["name", "cca2", "ccn3", "cca3", "region", "latlng", "area", "flag"],
        properties: {
          name: {
            type: "object",
            required: ["common", "official", "native"],
            properties: { ...names.properties, native: byLanguage(names) },
          },
          // The dot comes last in some that are written from right to left.
          tld: { type: "array", items: { type: "string", pattern: "^(\\.[^.\\s]+|[^.\\s]+\\.)$" } },
          cca2: countryCode,
          ccn3: { type: "string", pattern: "^([0-9]{3})?$" },
          cca3: alpha3,
          cioc: { type: "string", pattern: "^([A-Z]{3})?$" },
          independent: { type: ["boolean", "null"] },
          status: { enum: ["officially-assigned", "user-assigned"] },
          unMember: { type: "boolean" },
          unRegionalGroup: shortText,
          currencies: by("^[A-Z]{3}$", {
            type: "object",
            required: ["name", "symbol"],
            properties: { name: shortText, symbol: { type: "string", minLength: 1, maxLength: 10 } },
          }),
          idd: {
            type: "object",
            required: ["root", "suffixes"],
            properties: {
              root: { type: "string", pattern: "^(\\+[0-9])?$" },
              suffixes: { type: "array", items: { type: "string", pattern: "^[0-9]{1,6}$" } },
            },
          },
          capital: { type: "array", items: { type: "string", minLength: 1, maxLength: 100 } },
          altSpellings: { type: "array", items: shortText },
          region: { enum: ["Africa", "Americas", "Antarctic", "Asia", "Europe", "Oceania"] },
          subregion: shortText,
          languages: byLanguage(shortText),
          translations: byLanguage(names),
          latlng: {
            type: "array",
            prefixItems: [
              { type: "number", minimum: -90, maximum: 90 },
              { type: "number", minimum: -180, maximum: 180 },
            ],
            minItems: 2,
            maxItems: 2,
          },
          landlocked: { type: "boolean" },
          borders: { type: "array", items: alpha3, uniqueItems: true },
          // Square kilometres; -1 if unknown.
          area: { type: "number", minimum: -1 },
          flag: { type: "string", maxLength: 10 },
          demonyms: byLanguage(demonym),
        },
      },
    },
  },
});
