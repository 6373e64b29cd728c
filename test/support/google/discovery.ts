/**
 * Google's discovery documents in test/schemas/google: the requests of an API, with their bodies and responses.
 * Source: https://developers.google.com/discovery/v1/reference/apis
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv, type ValidateFunction } from 'ajv';

const folder = fileURLToPath(new URL('../../schemas/google/', import.meta.url));

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly $ref?: string;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Document {
  readonly source: string;
  readonly methods: readonly {
    readonly id: string;
    readonly httpMethod: string;
    /** A regular expression. */
    readonly path: string;
    readonly query: readonly string[];
    readonly request?: string;
    readonly response?: string;
  }[];
  readonly schemas: Readonly<Record<string, Schema>>;
}

export interface Method {
  readonly id: string;
  /** Returns the problem of a request's query or body, if any. */
  readonly faultOfRequest: (query: URLSearchParams, body: unknown) => string | undefined;
  readonly faultOfAnswer: (answer: unknown) => string | undefined;
}

interface Known extends Method {
  readonly api: string;
  readonly httpMethod: string;
  readonly path: RegExp;
}

/** 64-bit numbers are text in JSON. */
const TYPES: Readonly<Record<string, object>> = {
  any: {},
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  integer: { type: 'integer' },
  number: { type: 'number' },
};

const known: readonly Known[] = readdirSync(folder)
  .filter((file) => /\.v\d\w*\.json$/.test(file))
  .flatMap((file) => methodsOf(JSON.parse(readFileSync(folder + file, 'utf8'))));

/** All methods that a deployment under test may call. */
export function methodIds(): ReadonlySet<string> {
  return new Set(known.map(({ id }) => id));
}

/** @param path without the API's host: `v1/projects/p/databases` */
export function methodAt(httpMethod: string, api: string, path: string): Method | undefined {
  return known.find((one) => one.api === api && one.httpMethod === httpMethod && one.path.test(path));
}

function methodsOf({ source, methods, schemas }: Document): Known[] {
  const api = new URL(source).host;
  const ajv = new Ajv({ strict: false, allErrors: true });
  const definitions = Object.fromEntries(Object.entries(schemas).map(([name, one]) => [name, converted(one)]));
  const validator = (name: string | undefined) =>
    ajv.compile(name === undefined ? {} : { $ref: `#/definitions/${name}`, definitions });
  return methods.map(({ id, httpMethod, path, query, request, response }) => {
    const body = validator(request);
    const answer = validator(response);
    return {
      id,
      api,
      httpMethod,
      // A custom method follows the resource name: `projects/p:getIamPolicy`.
      path: new RegExp(path.replaceAll('[^/]+', '(?:(?!:[a-zA-Z]+$)[^/])+').replaceAll('.*', '(?:(?!:[a-zA-Z]+$).)*')),
      faultOfRequest: (given, sent) => {
        const unknown = [...given.keys()].filter((name) => !query.includes(name));
        if (unknown.length > 0) return `${id} has no parameter ${unknown.join(', ')}`;
        if (request === undefined && sent !== undefined && JSON.stringify(sent) !== '{}') return `${id} takes no body`;
        return faultBy(body, `the request of ${id}`, sent ?? {});
      },
      faultOfAnswer: (given) => faultBy(answer, `the answer of ${id}`, given),
    };
  });
}

function faultBy(validate: ValidateFunction, what: string, value: unknown): string | undefined {
  if (validate(value)) return undefined;
  const faults = validate.errors?.map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
  return `${what}: ${faults?.slice(0, 3).join('; ')}`;
}

/** Converts to JSON Schema. Unknown fields are errors. */
function converted({ type, format, enum: values, $ref, items, additionalProperties, properties }: Schema): object {
  if ($ref !== undefined) return { $ref: `#/definitions/${$ref}` };
  if (type === 'array') return { type, items: converted(items ?? { type: 'any' }) };
  if (type === 'object')
    return {
      type,
      properties: Object.fromEntries(Object.entries(properties ?? {}).map(([name, one]) => [name, converted(one)])),
      additionalProperties: additionalProperties === undefined ? false : converted(additionalProperties),
    };
  const isLong = format === 'int64' || format === 'uint64';
  return {
    ...(isLong ? { type: 'string', pattern: '^-?\\d+$' } : TYPES[type ?? 'any']),
    ...(values && { enum: values }),
  };
}
