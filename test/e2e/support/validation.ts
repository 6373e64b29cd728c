/** Validation of results against output schemas, like the SDK's, but compiled once for all clients. */
import type { JsonSchemaType, JsonSchemaValidator } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

class SharedValidator extends AjvJsonSchemaValidator {
  /** The first schema with each text: Ajv recognizes a compiled schema only by object identity. */
  private readonly compiled = new Map<string, JsonSchemaType>();

  override getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const text = JSON.stringify(schema);
    const known = this.compiled.get(text) ?? schema;
    this.compiled.set(text, known);
    return super.getValidator<T>(known);
  }
}

/** Shared by all clients in this process. Each compiles its listed tools: 88 schemas take as long as 50 calls. */
export const sharedValidator = new SharedValidator();
