/**
 * Validates requests and responses against Google's discovery documents in test/schemas/google. Source:
 * https://developers.google.com/discovery/v1/reference/apis
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
    /** Regular expression for paths of the method. */
    readonly path: string;
    readonly query: readonly string[];
    readonly request?: string;
    readonly response?: string;
  }[];
  readonly schemas: Readonly<Record<string, Schema>>;
}

export interface Method {
  readonly id: string;
  /** Returns the error in a request's query or body, if any. */
  readonly faultOfRequest: (query: URLSearchParams, body: unknown) => string | undefined;
  readonly faultOfAnswer: (answer: unknown) => string | undefined;
}

interface Known extends Method {
  readonly api: string;
  readonly httpMethod: string;
  readonly path: RegExp;
}

/** JSON Schemas of simple types. `converted` handles 64-bit numbers separately, because they are strings in JSON. */
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

/** Returns the ids of all methods in the discovery documents. */
export const methodIds = (): ReadonlySet<string> => new Set(known.map(({ id }) => id));

/** Finds the method of a request. @param path path without the API's host, such as `v1/projects/p/databases` */
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
      // The name of a custom method follows the resource name: `projects/p:getIamPolicy`.
      path: new RegExp(path.replaceAll('[^/]+', '(?:(?!:[a-zA-Z]+$)[^/])+').replaceAll('.*', '(?:(?!:[a-zA-Z]+$).)*')),
      faultOfRequest: (given, sent) => {
        const unknown = [...given.keys()].filter((name) => !query.includes(name));
        if (unknown.length > 0) return `${id} has no parameter ${unknown.join(', ')}`;
        if (request === undefined && sent !== undefined && JSON.stringify(sent) !== '{}') return `${id} takes no body`;
        return faultBy(body, `the request of ${id}`, sent ?? {});
      },
      faultOfAnswer: (given) => faultBy(answer, `the response of ${id}`, given),
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

/** Converts a schema of a discovery document to JSON Schema. Unknown fields are errors. */
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
