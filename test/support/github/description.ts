/**
 * Validates requests and responses of the local GitHub against GitHub's own OpenAPI description in
 * `@octokit/openapi`. Compiles only the schemas in use.
 */
import { createRequire } from 'node:module';
import { Ajv, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly parameters?: readonly Json[];
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Json>>;
}

const description: Json & { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> } =
  createRequire(new URL('../../schemas/package.json', import.meta.url))(
    '@octokit/openapi/generated/api.github.com.json',
  );

const ajv = new Ajv({ strict: false, allErrors: true, logger: false, coerceTypes: false });
const coercing = new Ajv({ strict: false, allErrors: true, logger: false, coerceTypes: true });
for (const one of [ajv, coercing]) formats.default(one);

const compiled = new Map<string, ValidateFunction>();

/** Schemas of the errors that every operation may return, even if its description does not list them. */
const ALWAYS: Readonly<Record<string, string>> = {
  401: 'basic-error',
  403: 'basic-error',
  404: 'basic-error',
  410: 'basic-error',
  429: 'basic-error',
  451: 'basic-error',
  500: 'basic-error',
  502: 'basic-error',
  503: 'basic-error',
};

/** Returns the description of an operation. @param route method and path, such as `GET /repos/{owner}/{repo}` */
export function operationOf(route: string): Operation {
  const [method = '', path = ''] = route.split(' ');
  const operation = description.paths[path]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`GitHub's description has no route ${route}`);
  return operation;
}

/** Returns the differences between a request and GitHub's description. */
export function requestProblems(
  route: string,
  sent: { readonly path: Json; readonly query: Json; readonly body: unknown },
): string[] {
  const operation = operationOf(route);
  const parameters = (operation.parameters ?? []).map((one) => resolved(one));
  const problems = (['path', 'query'] as const).flatMap((place) =>
    parameterProblems(route, place, parameters, sent[place]),
  );
  const described = resolved(operation.requestBody ?? {});
  const body = jsonSchema(described);
  if (body === undefined || (sent.body === undefined && described['required'] !== true)) return problems;
  return [...problems, ...check(ajv, `${route} body`, body, sent.body)];
}

/** Returns the differences between a response and GitHub's description. */
export function answerProblems(route: string, status: number, body: unknown): string[] {
  const declared = operationOf(route).responses[String(status)];
  if (declared !== undefined) {
    const schema = jsonSchema(resolved(declared));
    return schema === undefined ? [] : check(ajv, `${route} ${status}`, schema, body);
  }
  const always = ALWAYS[String(status)];
  if (always === undefined) return [`${route} never returns status ${status}`];
  return check(ajv, always, { $ref: `#/components/schemas/${always}` }, body);
}

/** Returns the first example of a response in GitHub's description. Callers replace the relevant fields. */
export function exampleOf(route: string, status: number): unknown {
  const content = jsonContent(resolved(operationOf(route).responses[String(status)] ?? {}));
  const [first] = Object.values(asJson(content?.['examples'] ?? {}));
  const example = resolved(asJson(first))['value'];
  if (example === undefined) throw new Error(`GitHub's description has no example of ${route} ${status}`);
  return structuredClone(example);
}

function parameterProblems(route: string, place: string, parameters: readonly Json[], sent: Json): string[] {
  const here = parameters.filter((one) => one['in'] === place);
  const schema = {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(here.map((one) => [one['name'], one['schema']])),
    required: here.filter((one) => one['required'] === true).map((one) => one['name']),
  };
  return check(coercing, `${route} ${place}`, schema, structuredClone(sent));
}

function check(validator: Ajv, name: string, schema: Json, value: unknown): string[] {
  const key = `${validator === ajv ? '' : 'coerced '}${name}`;
  const validate = compiled.get(key) ?? validator.compile(standalone(schema));
  compiled.set(key, validate);
  if (validate(value)) return [];
  return (validate.errors ?? [])
    .slice(0, 12)
    .map((error) => `${name}${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
}

/** Converts a schema and all schemas that it refers to into one JSON Schema. */
function standalone(schema: Json): Json {
  const definitions: Record<string, unknown> = {};
  const convert = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(convert);
    if (typeof value !== 'object' || value === null) return value;
    const { nullable, discriminator: _forGenerators, $ref, ...rest } = asJson(value);
    if (typeof $ref === 'string') return { $ref: `#/definitions/${define($ref)}` };
    const entries = Object.entries(corrected(rest)).map(([key, inner]) => [key, convert(inner)]);
    const plain = Object.fromEntries(entries);
    return nullable === true ? { anyOf: [plain, { type: 'null' }] } : plain;
  };
  const define = (reference: string): string => {
    const name = reference.replaceAll(/[^\w-]/g, '_');
    if (!(name in definitions)) {
      definitions[name] = true; // A placeholder, so that cyclic references end.
      definitions[name] = convert(lookUp(reference));
    }
    return name;
  };
  const converted = asJson(convert(schema));
  return { ...converted, definitions };
}

/**
 * Corrects GitHub's description, in which one schema requires an account to be both a user and an enterprise. Also
 * replaces `oneOf` with `anyOf`, because some values match several alternatives.
 */
function corrected(schema: Json): Json {
  const { allOf, oneOf, ...rest } = schema;
  const both = Array.isArray(allOf) && allOf.some((one) => asJson(one)['title'] === 'Enterprise');
  if (both) return { ...rest, anyOf: allOf };
  return oneOf === undefined ? schema : { ...rest, ...(allOf !== undefined && { allOf }), anyOf: oneOf };
}

function jsonSchema(message: Json): Json | undefined {
  const schema = jsonContent(message)?.['schema'];
  return schema === undefined ? undefined : asJson(schema);
}

function jsonContent(message: Json): Json | undefined {
  const json = asJson(message['content'] ?? {})['application/json'];
  return json === undefined ? undefined : asJson(json);
}

function resolved(value: Json): Json {
  const { $ref } = value;
  return typeof $ref === 'string' ? asJson(lookUp($ref)) : value;
}

function lookUp(reference: string): unknown {
  let at: unknown = description;
  for (const part of reference.slice(2).split('/')) at = asJson(at)[part];
  return at;
}

function asJson(value: unknown): Json {
  if (typeof value !== 'object' || value === null) throw new Error(`not an object: ${String(value)}`);
  return { ...value };
}
