/** Validates results against output schemas as the SDK does, but compiles each schema once for all clients. */
import type { JsonSchemaType, JsonSchemaValidator } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

class SharedValidator extends AjvJsonSchemaValidator {
  /** Schemas by their JSON text. Ajv compiles an equal schema again unless it is the identical object. */
  private readonly compiled = new Map<string, JsonSchemaType>();

  override getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const text = JSON.stringify(schema);
    const known = this.compiled.get(text) ?? schema;
    this.compiled.set(text, known);
    return super.getValidator<T>(known);
  }
}

/** Shared by all clients of this process, because compiling 88 schemas takes as long as 50 calls. */
export const sharedValidator = new SharedValidator();
