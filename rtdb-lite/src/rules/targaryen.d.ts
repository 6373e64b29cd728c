// biome-ignore-all lint/style/noDefaultExport: it is how CommonJS modules look from here

declare module 'targaryen/lib/parser/index.js' {
  export interface Rule {
    evaluate(state: object): unknown;
  }
  const parser: { parse(rule: string, wildcards: readonly string[], isWrite: boolean): Rule };
  export default parser;
}

declare module 'targaryen/lib/parser/string-methods.js' {
  const methods: Record<string, (text: string, argument: string) => unknown>;
  export default methods;
}

declare module 'targaryen/lib/database/query.js' {
  const query: { create(constraints: object): object };
  export default query;
}

declare module 'targaryen/lib/database/index.js' {
  interface Result {
    allowed: boolean;
  }
  interface Database {
    as(auth: object | null): Database;
    read(path: string, options: { now: number }): Result;
    write(path: string, value: unknown): Result;
  }
  const database: { create(rules: object, data: unknown): Database };
  export default database;
}

declare module 'firebase-json' {
  const json: { parse(text: string): unknown };
  export default json;
}
