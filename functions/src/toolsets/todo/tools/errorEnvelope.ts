import { z } from 'zod';
import type { ErrorEnvelope } from '../../../mcp/tool.ts';
import { TODO_CODES } from '../rules/todo.ts';

/** spec/todo.md, "Error Handling". The codes that it adds to ours are reasons of ours. */
export const errorEnvelope: ErrorEnvelope = {
  show({ code, message }, { value: _value, entries: _entries, ...details }) {
    const { reason, ...others } = details;
    const own = TODO_CODES.find((one) => one === reason);
    const isOfArguments = code === 'REQUIRED_FIELD' || code === 'INVALID_FORMAT';
    return {
      success: false,
      error: {
        code: own ?? (isOfArguments ? 'VALIDATION_ERROR' : code),
        message,
        details: own === undefined ? details : others,
      },
    };
  },
  schema: z.object({
    success: z.boolean(),
    error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()) }),
  }),
};
