/** How clients hold answers against the tools' output schemas: as the SDK does, without compiling each again for every client. */
import type { JsonSchemaType, JsonSchemaValidator } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

class SharedValidator extends AjvJsonSchemaValidator {
  /** Each schema as it came first, by its text: Ajv knows one that it has compiled by its object. */
  private readonly compiled = new Map<string, JsonSchemaType>();

  override getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const text = JSON.stringify(schema);
    const known = this.compiled.get(text) ?? schema;
    this.compiled.set(text, known);
    return super.getValidator<T>(known);
  }
}

/** Of all clients in this process. Each compiles what it lists: 88 schemas take as long as 50 calls. */
export const sharedValidator = new SharedValidator();
