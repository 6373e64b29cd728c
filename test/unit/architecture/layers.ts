/** The layers of functions/src: for each folder or file, what it may import beside its own folder. */
export type Layer = readonly string[];

export const layers: Readonly<Record<string, Layer>> = {
  'index.ts': ['entry/'],
  'entry/': ['app.ts', 'config.ts', 'config/', 'adapters/firestore/paths.ts'],
  'app.ts': ['composition/', 'adapters/', 'config.ts', 'domain/', 'mcp/', 'toolsets/', 'version.ts'],
  'composition/': ['adapters/', 'config.ts', 'config/', 'domain/', 'logging.ts', 'version.ts'],
  'toolsets/': ['domain/', 'mcp/tool.ts'],
  'adapters/': ['domain/'],
  'mcp/': ['domain/'],
  'config.ts': [],
  'config/': ['config.ts'],
  'logging.ts': ['domain/'],
  'version.ts': [],
  'domain/': [],
};

/** Every package that functions/src uses, and the only places that may. */
export const packageOwners: Readonly<Record<string, readonly string[]>> = {
  zod: ['domain/', 'mcp/', 'toolsets/', 'adapters/'],
  '@modelcontextprotocol': ['mcp/'],
  '@google-cloud/firestore': ['adapters/firestore/'],
  '@google-cloud/pubsub': ['adapters/pubsub/'],
  'google-auth-library': ['adapters/firestore/'],
  'firebase-admin/app': ['adapters/'],
  'firebase-admin/auth': ['adapters/auth/'],
  'firebase-admin/database': ['adapters/database/', 'adapters/admin/'],
  'firebase-admin/functions': ['adapters/cloudtasks/'],
  'firebase-admin/messaging': ['adapters/messaging/'],
  '@octokit': ['adapters/github/'],
  '@anthropic-ai/sdk': ['adapters/anthropic/'],
  '@google/genai': ['adapters/gemini/'],
  'rrule-temporal': ['domain/recurrence/'],
  'temporal-polyfill': ['domain/recurrence/'],
  '@marcbachmann/cel-js': ['domain/orchestration/workflows/'],
  mustache: ['domain/orchestration/workflows/'],
  'firebase-functions': ['entry/', 'config.ts', 'config/', 'logging.ts'],
  'node:diagnostics_channel': ['entry/http/'],
  'node:fs': ['adapters/platform/'],
  'node:http': ['mcp/', 'entry/http/', 'adapters/messaging/'],
  'node:net': ['adapters/messaging/'],
  'node:stream': ['mcp/'],
  'node:stream/web': ['mcp/'],
  'node:util': ['mcp/'],
  'node:zlib': ['mcp/'],
  'node:crypto': ['adapters/platform/'],
};

export function layerOf(file: string): Layer | undefined {
  const path = Object.keys(layers).find((one) => (one.endsWith('/') ? file.startsWith(one) : file === one));
  return path === undefined ? undefined : layers[path];
}
