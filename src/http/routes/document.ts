/** What answers outside the prefix have in common. */

/** A small answer that is no resource. */
export interface Document {
  status: number;
  type: string;
  body: string;
  /** Fields that it has beside those of every document, or in place of them. */
  headers?: Readonly<Record<string, string>>;
}

/** The value of `Link` that leads to the OpenAPI document (RFC 8631). */
export const serviceDescription = '</openapi.json>; rel="service-desc"';
