/** Compares the JSON Schema of a tool with the schema that the specification defines for that tool. */

export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly description?: string;
  readonly [keyword: string]: unknown;
}

/** JSON Schema keywords that must have the same value in both schemas, or be absent from both. */
const EXACT = [
  'enum',
  'const',
  'default',
  'format',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
] as const;

/** Returns the differences of `ours` from `contract`. Optional properties that only `ours` has are allowed. */
export function disagreements(contract: Schema, ours: Schema | undefined, path = ''): string[] {
  if (ours === undefined) return [`${path}: missing`];
  return [
    ...typeDisagreements(contract, ours, path),
    ...EXACT.flatMap((keyword) => valueDisagreements(keyword, contract[keyword], ours[keyword], path)),
    ...valueDisagreements('required', sorted(contract.required), sorted(ours.required), path),
    ...Object.entries(contract.properties ?? {}).flatMap(([name, property]) =>
      disagreements(property, ours.properties?.[name], `${path}/${name}`),
    ),
    ...(contract.items === undefined ? [] : disagreements(contract.items, ours.items, `${path}[]`)),
  ];
}

function typeDisagreements(contract: Schema, ours: Schema, path: string): string[] {
  return contract.type === undefined ? [] : valueDisagreements('type', typesOf(contract), typesOf(ours), path);
}

/** The contract lists several types in `type`. The schemas of Muster may list them in `anyOf`. */
function typesOf({ type, anyOf }: Schema): readonly string[] {
  return sorted(anyOf === undefined ? [type ?? []].flat() : anyOf.flatMap(typesOf));
}

function valueDisagreements(keyword: string, contract: unknown, ours: unknown, path: string): string[] {
  const [left, right] = [JSON.stringify(contract), JSON.stringify(ours)];
  return left === right ? [] : [`${path}: ${keyword} is ${right}, the contract says ${left}`];
}

function sorted(names: readonly string[] | undefined): readonly string[] {
  return [...(names ?? [])].sort();
}

/** Returns every property of a schema with its path. */
export function propertiesOf(schema: Schema, path = ''): [string, Schema][] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]): [string, Schema][] => [
    [`${path}/${name}`, property],
    ...propertiesOf(property, `${path}/${name}`),
  ]);
  const within = [schema.items ?? [], schema.anyOf ?? []].flat();
  return [...own, ...within.flatMap((inner) => propertiesOf(inner, `${path}[]`))];
}
