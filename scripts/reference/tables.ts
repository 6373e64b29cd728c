/** Markdown tables, and JSON Schema as table rows. */
import { z } from 'zod';

/**
 * The JSON Schema keywords that the pages can show. Any other keyword is an error, because the pages must show
 * everything that clients see.
 */
const schemaShape = z.strictObject({
  additionalProperties: z.union([z.boolean(), z.record(z.string(), z.unknown())]).optional(),
  anyOf: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  default: z.unknown().optional(),
  description: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  exclusiveMinimum: z.number().optional(),
  format: z.string().optional(),
  items: z.unknown().optional(),
  maximum: z.number().optional(),
  maxItems: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  minItems: z.number().optional(),
  minLength: z.number().optional(),
  pattern: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  propertyNames: z.unknown().optional(),
  required: z.array(z.string()).optional(),
  type: z.string().optional(),
});
type Schema = z.output<typeof schemaShape>;

/** Returns rows (name, type, required, description) for an object's properties, each followed by nested ones. */
export function schemaRows(schema: unknown, prefix = ''): readonly string[][] {
  const { properties = {}, required = [] } = schemaShape.parse(schema);
  return Object.entries(properties).flatMap(([name, value]) => {
    const property = schemaShape.parse(value);
    const path = `${prefix}${name}`;
    const row = [`\`${path}\``, typeOf(property), required.includes(name) ? 'yes' : '', whatOf(property)];
    return [row, ...rowsWithin(property, path)];
  });
}

function rowsWithin(schema: Schema, path: string): readonly string[][] {
  const { items, properties, required = [], anyOf = [] } = schema;
  if (properties !== undefined) return schemaRows({ properties, required }, `${path}.`);
  if (items !== undefined) return rowsWithin(schemaShape.parse(items), `${path}[]`);
  const values = valuesOf(schema);
  if (values !== undefined) return rowsWithin(values, `${path}.*`);
  return anyOf.flatMap((variant) => rowsWithin(schemaShape.parse(variant), path));
}

function typeOf(schema: Schema): string {
  const { anyOf, const: only, enum: names, items, properties, additionalProperties, type } = schema;
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (names !== undefined) return names.map((value) => `\`${String(value)}\``).join(', ');
  if (anyOf !== undefined) {
    const taken = anyOf.map((one) => typeOf(schemaShape.parse(one))).join(' or ');
    return type === undefined ? taken : `${taken}; listed as ${typeOf({ ...schema, anyOf: undefined })}`;
  }
  if (items !== undefined) return `array of ${typeOf(schemaShape.parse(items))}`;
  const values = valuesOf(schema);
  if (values !== undefined) return `object of ${typeOf(values)}`;
  if (properties !== undefined && additionalProperties !== false) return 'object, with other fields';
  return additionalProperties === true ? 'object with any fields' : (type ?? 'any');
}

/** Returns the schema of an object's values if it is a map. */
function valuesOf({ properties, additionalProperties }: Schema): Schema | undefined {
  if (properties !== undefined || typeof additionalProperties !== 'object') return undefined;
  return schemaShape.parse(additionalProperties);
}

const BOUNDS: readonly (readonly [keyword: keyof Schema, words: string])[] = [
  ['minimum', 'minimum'],
  ['exclusiveMinimum', 'more than'],
  ['maximum', 'maximum'],
  ['minLength', 'minimum length'],
  ['maxLength', 'maximum length'],
  ['minItems', 'minimum entries'],
  ['maxItems', 'maximum entries'],
  ['pattern', 'matches'],
  ['format', 'format'],
  ['default', 'default'],
];

function whatOf(schema: Schema): string {
  const description = schema.description?.replace(/\.$/, '');
  return [...(description === undefined ? [] : [description]), ...boundsOf(schema)].join('; ');
}

/** Returns the limits of a value, and the limits of nested values that have no separate row. */
function boundsOf(schema: Schema): readonly string[] {
  const own = BOUNDS.filter(([keyword]) => schema[keyword] !== undefined).map(
    ([keyword, words]) => `${words} \`${JSON.stringify(schema[keyword])}\``,
  );
  const within = (name: string, part: unknown): readonly string[] => {
    const what = part === undefined ? '' : whatOf(schemaShape.parse(part));
    return what === '' ? [] : [`${name}: ${what}`];
  };
  return [
    ...own,
    ...within('each', schema.items),
    ...within('each', valuesOf(schema)),
    ...within('each name', schema.propertyNames),
    ...(schema.anyOf ?? []).flatMap((one) => within(typeOf(schemaShape.parse(one)), one)),
  ];
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return withoutMarkup(text.replaceAll('|', '\\|').replace(/\s+/g, ' '));
}

/** Escapes text such as `<name>`, which Markdown would otherwise treat as HTML. */
export function withoutMarkup(text: string): string {
  return text.replace(/`[^`]*`|</g, (part) => (part === '<' ? '\\<' : part));
}
