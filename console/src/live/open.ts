/** Reads stored data with the server's schemas, including data of newer servers. */
import { z } from 'zod/mini';

type Schema = z.core.$ZodType;
type Some<Type> = Type extends Schema ? Type : never;

/** Type of a schema whose enums accept any text, and whose JSON texts are not parsed. */
type Open<Stored> = Stored extends z.core.$ZodEnum
  ? z.ZodMiniString<string>
  : Stored extends z.core.$ZodCodec<infer Text, infer _>
    ? Text
    : Stored extends z.core.$ZodObject<infer Shape>
      ? z.ZodMiniObject<{ -readonly [Field in keyof Shape]: Some<Open<Shape[Field]>> }, z.core.$strip>
      : Stored extends z.core.$ZodArray<infer Item>
        ? z.ZodMiniArray<Some<Open<Item>>>
        : Stored extends z.core.$ZodRecord<infer _, infer Item>
          ? z.ZodMiniRecord<z.ZodMiniString<string>, Some<Open<Item>>>
          : Stored extends z.core.$ZodNullable<infer Inner>
            ? z.ZodMiniNullable<Some<Open<Inner>>>
            : Stored extends z.core.$ZodDefault<infer Inner>
              ? z.ZodMiniDefault<Some<Open<Inner>>>
              : Stored extends z.core.$ZodExactOptional<infer Inner>
                ? z.ZodMiniExactOptional<Some<Open<Inner>>>
                : Stored;

/** Makes the enums in a schema accept any text, so that an old page shows items with statuses of a newer server. */
export function open<Stored extends Schema>(schema: Stored): Open<Stored> {
  // `opened` converts the schema as the type Open describes, which the compiler cannot verify.
  return opened(schema) as Open<Stored>;
}

function opened(schema: Schema): Schema {
  if (schema instanceof z.core.$ZodEnum) return z.string();
  if (schema instanceof z.core.$ZodCodec) return schema._zod.def.in;
  if (schema instanceof z.core.$ZodObject) {
    const fields = Object.entries(schema._zod.def.shape);
    return z.object(Object.fromEntries(fields.map(([name, field]) => [name, opened(field)])));
  }
  if (schema instanceof z.core.$ZodArray) return z.array(opened(schema._zod.def.element));
  if (schema instanceof z.core.$ZodRecord) return z.record(z.string(), opened(schema._zod.def.valueType));
  if (schema instanceof z.core.$ZodNullable) return z.nullable(opened(schema._zod.def.innerType));
  if (schema instanceof z.core.$ZodExactOptional) return z.exactOptional(opened(schema._zod.def.innerType));
  if (schema instanceof z.core.$ZodDefault)
    return z._default(opened(schema._zod.def.innerType), schema._zod.def.defaultValue);
  return schema;
}
