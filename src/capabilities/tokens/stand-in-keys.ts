/** Public keys in place of those that an issuer publishes, one for each kind of signature. Nobody has their private keys. */
export const standInKeys = {
  keys: [
    {
      kty: "RSA",
      n: "rGH8Gce_5JnkCDYG_X0CvTtg5Cz-KzoGYi4NLg5Ah7ti_CRwZ2n5lKs8w5C5-C41wVKQe0NotcSXOXYXR01uOvRFpCGRvXNvoPDazqHTpIFJvnBnmVUUN982fi5mPfDCdoAuGcj5veep5oUTJNVFOrn-9JpaxEmAyEKyjBz8zCrS9KsreNfqwEPWcEFX0szcGSDaH0KRyXG_-RH7vppdc1wbcdmue-Y1_SntE3WE6IsPBlg3re4Bcvc6L93JS5RhhZJDwCa66Z6AqlfxhU-Hi6bBPlWc_MFqV9VPrd2VkjpsOAqPgOSut5Gmd6JnT6O56S2b-RbOs8gz7DM9LWfjIw",
      e: "AQAB",
    },
    {
      kty: "EC",
      x: "q8TD2YL3AQT7kPuDrAuEJWs_ri0svDAIvzHzZYe2Wmw",
      y: "V_5tblE1H8Ul5ppo8w5GAm-0_oHbunUTyoVucqW4ii0",
      crv: "P-256",
    },
    {
      kty: "EC",
      x: "tT5Wgs8W3mSAy3g_IXfwPTB-TXSjSGd64lKJ2rhtUjBdzrhmzUdoF0dHWuMYdkjq",
      y: "cGwduhsWrR-0LCr_Guyo0ss0mc6-ofSWZPnfHI1is4SOfrD1chSDt1Pa2HoMW8ot",
      crv: "P-384",
    },
    {
      kty: "EC",
      x: "ALBXpiuw7hHNgZEO1jBwJMAupQmtp7FWbGKBjJk9TuHDtlWVbDUCCwEaWQiB3lEx8f4qP_uB0eN7igSc9UMdXO8W",
      y: "AfZhSz2YfiJ3dHORYX8vRm6gkPpsg-FmcL_iFPqP61Ww_12nk0zCWPQJWrGTspuXZ0OpXH0n56iM7wDUxMPulZb4",
      crv: "P-521",
    },
    { kty: "OKP", crv: "Ed25519", x: "YyZKMgcUKPCSat4UlDlw5wV1xldflmioaCt0bsSgrSk" },
  ],
};
