/** Markdown tables, and JSON Schema as rows of one. */
import { z } from 'zod';

const schemaShape = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
});

type Schema = z.output<typeof schemaShape>;

/** The properties of an object's schema, those within them after each: name, type, whether required, what. */
export function schemaRows(schema: unknown, prefix = ''): readonly string[][] {
  const { properties = {}, required = [] } = schemaShape.parse(schema);
  return Object.entries(properties).flatMap(([name, value]) => {
    const property = schemaShape.parse(value);
    const path = `${prefix}${name}`;
    const row = [`\`${path}\``, typeOf(property), required.includes(name) ? 'yes' : '', whatOf(property)];
    return [row, ...rowsWithin(property, path)];
  });
}

function rowsWithin({ items, properties, anyOf = [] }: Schema, path: string): readonly string[][] {
  if (properties !== undefined) return schemaRows({ properties }, `${path}.`);
  if (items !== undefined) return rowsWithin(schemaShape.parse(items), `${path}[]`);
  return anyOf.flatMap((variant) => rowsWithin(schemaShape.parse(variant), path));
}

function typeOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.anyOf !== undefined)
    return schema.anyOf.map((one) => typeOf(schemaShape.parse(one))).join(' or ');
  if (schema.items !== undefined) return `array of ${typeOf(schemaShape.parse(schema.items))}`;
  return [schema.type ?? 'any'].flat().join(' or ');
}

const BOUNDS: readonly (readonly [keyword: string, words: string])[] = [
  ['minimum', 'at least'],
  ['maximum', 'at most'],
  ['minLength', 'characters at least'],
  ['maxLength', 'characters at most'],
  ['minItems', 'entries at least'],
  ['maxItems', 'entries at most'],
  ['pattern', 'matches'],
  ['format', 'format'],
  ['default', 'usually'],
];

function whatOf(schema: Schema): string {
  const bounds = BOUNDS.filter(([keyword]) => schema[keyword] !== undefined).map(
    ([keyword, words]) => `${words} \`${JSON.stringify(schema[keyword])}\``,
  );
  const description = schema.description?.replace(/\.$/, '');
  return [description, ...bounds].filter((part) => part !== undefined).join('; ');
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s+/g, ' ');
}
