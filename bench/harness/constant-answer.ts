/** The constant response of a limit, from its command line. */

/** An answer that costs nothing to find. */
export interface ConstantAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Reads the answer that the server was started with. */
export function readConstantAnswer(): ConstantAnswer {
  return { status: 200, ...(JSON.parse(process.argv[2] as string) as Omit<ConstantAnswer, "status">) };
}
