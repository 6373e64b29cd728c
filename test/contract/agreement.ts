/** Compares a tool's JSON Schema with the contract's. */

export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly description?: string;
  readonly [keyword: string]: unknown;
}

/** What must be the same on both sides, or absent on both. */
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

/** Whose schema it is: an answer may promise more than the contract does, arguments may not ask for more. */
export type Side = 'arguments' | 'answer';

/** Everything in which `ours` is not as `contract` says; more optional properties are not held against it. */
export function disagreements(contract: Schema, ours: Schema | undefined, side: Side, path = ''): string[] {
  if (ours === undefined) return [`${path}: missing`];
  return [
    ...typeDisagreements(contract, ours, path),
    ...EXACT.flatMap((keyword) => valueDisagreements(keyword, contract[keyword], ours[keyword], path)),
    ...requiredDisagreements(contract, ours, side, path),
    ...Object.entries(contract.properties ?? {}).flatMap(([name, property]) =>
      disagreements(property, ours.properties?.[name], side, `${path}/${name}`),
    ),
    ...(contract.items === undefined ? [] : disagreements(contract.items, ours.items, side, `${path}[]`)),
  ];
}

function requiredDisagreements(contract: Schema, ours: Schema, side: Side, path: string): string[] {
  const asked = sorted(contract.required);
  const promised = sorted(ours.required).filter((name) => side === 'arguments' || asked.includes(name));
  return valueDisagreements('required', asked, promised, path);
}

function typeDisagreements(contract: Schema, ours: Schema, path: string): string[] {
  return contract.type === undefined
    ? []
    : valueDisagreements('type', typesOf(contract), typesOf(ours), path);
}

/** Several types stand in a list in the contract and may stand in `anyOf` in ours. */
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

/** Every property of a schema, with its path. */
export function propertiesOf(schema: Schema, path = ''): [string, Schema][] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]): [string, Schema][] => [
    [`${path}/${name}`, property],
    ...propertiesOf(property, `${path}/${name}`),
  ]);
  const within = [schema.items ?? [], schema.anyOf ?? []].flat();
  return [...own, ...within.flatMap((inner) => propertiesOf(inner, `${path}[]`))];
}
