/** A local stand-in for the Gemini API whose model follows a script, by the vendor's REST reference. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { ToolCall } from './scriptedModel.ts';

export interface ScriptedGemini {
  readonly url: string;
  close(): Promise<void>;
}

const functionResponse = z.looseObject({ name: z.string(), response: z.looseObject({}) });

/** As much of a GenerateContentRequest as the script reads. */
const request = z.looseObject({
  contents: z.array(
    z.looseObject({
      parts: z.array(z.looseObject({ functionResponse: functionResponse.optional() })).default([]),
    }),
  ),
  tools: z
    .array(z.looseObject({ functionDeclarations: z.array(z.looseObject({ name: z.string() })).default([]) }))
    .default([]),
});

const USAGE = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };

/** @param script followed by whoever offers tools; other questions get an empty object */
export async function startScriptedGemini(script: readonly (() => ToolCall)[]): Promise<ScriptedGemini> {
  const server = createServer((incoming, response) => {
    answer(incoming, response, script).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  script: readonly (() => ToolCall)[],
): Promise<void> {
  const { pathname } = new URL(incoming.url ?? '/', 'http://localhost');
  const method = /^\/v1beta\/models\/[\w.-]+:(\w+)$/.exec(pathname)?.[1];
  const parsed = request.safeParse(JSON.parse((await text(incoming)) || '{}'));
  if (method === undefined || !parsed.success) {
    const error = { code: 400, message: parsed.error?.message ?? 'Unknown path', status: 'INVALID_ARGUMENT' };
    return void response
      .writeHead(400, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ error }));
  }
  const { contents, tools } = parsed.data;
  const offers = tools.some(({ functionDeclarations }) => functionDeclarations.length > 0);
  const done = contents
    .flatMap(({ parts }) => parts)
    .filter((part) => part.functionResponse !== undefined).length;
  const call = offers ? script[done]?.() : undefined;
  const said = { text: offers ? 'Done.' : '{}' };
  const part = call === undefined ? said : { functionCall: { name: call.tool, args: call.input } };
  const whole = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: USAGE,
    modelVersion: 'scripted',
  };
  if (method === 'streamGenerateContent') {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    return void response.end(`data: ${JSON.stringify(whole)}\n\n`);
  }
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(whole));
}
