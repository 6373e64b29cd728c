/**
 * Layers of functions/src from bottom to top, with the permitted imports of each folder or file. A toolset may import
 * only the index.ts of another toolset. Source: docs/architecture.md.
 */
const foundation = [
  'kernel/',
  'identity/',
  'limits/',
  'agents/',
  'access/',
  'graph/',
  'mcp/tool.ts',
  'mcp/jsonSchema.ts',
  'mcp/resource.ts',
  'mcp/callContext.ts',
  'mcp/prompt.ts',
];

const entryPoints = (...toolsets: readonly string[]): readonly string[] =>
  toolsets.map((name) => `toolsets/${name}/index.ts`);

export const modules: Readonly<Record<string, readonly string[]>> = {
  'config.ts': [],
  'kernel/': [],
  'identity/': ['kernel/'],
  'limits/': ['kernel/', 'identity/'],
  'agents/': ['kernel/', 'identity/'],
  'access/': ['kernel/', 'identity/', 'limits/', 'agents/'],
  'graph/': ['kernel/', 'identity/'],
  'mcp/': ['kernel/', 'identity/', 'limits/', 'agents/', 'access/'],
  'signin/': [
    'kernel/',
    'identity/',
    'limits/',
    'agents/',
    'access/',
    'mcp/callContext.ts',
    'mcp/http/rejection.ts',
    'mcp/http/request.ts',
    'mcp/http/response.ts',
  ],
  'signin/page/': ['signin/http/texts.ts', 'signin/rules/choices.ts'],
  'toolsets/access/': foundation,
  'toolsets/firebase/': foundation,
  'toolsets/todo/': [...foundation, ...entryPoints('coordination')],
  'toolsets/coordination/': foundation,
  'toolsets/github/': [...foundation, ...entryPoints('coordination')],
  'toolsets/orchestration/': [...foundation, ...entryPoints('coordination')],
  'toolsets/coding/': [...foundation, ...entryPoints('coordination', 'github')],
  'toolsets/inbox/': [...foundation, ...entryPoints('coordination', 'todo')],
  'toolsets/system/': [...foundation, ...entryPoints('coordination', 'coding', 'github', 'orchestration')],
  'toolsets/onboarding/': [...foundation, ...entryPoints('coordination', 'system')],
  'toolsets/index.ts': ['identity/', 'toolsets/', 'mcp/tool.ts'],
  'vendors/': ['kernel/', ...entryPoints('github', 'orchestration', 'todo')],
  'composition/': ['config.ts', ...foundation, 'mcp/', 'signin/', 'toolsets/', 'vendors/'],
  'app.ts': ['config.ts', 'kernel/', 'identity/', 'access/', 'mcp/', 'signin/', 'composition/'],
  'entry/': ['app.ts', 'config.ts', 'kernel/firestore/paths.ts'],
  'index.ts': ['entry/'],
};

/** Imports that are forbidden for parts of a feature. For example, rules must not import databases. */
export const parts: readonly { readonly part: RegExp; readonly never: RegExp; readonly butTypes?: boolean }[] = [
  // The sign-in page runs in browsers, so it imports nothing from the server except types.
  { part: /^signin\/page\//, never: /^(?!signin\/page\/)/, butTypes: true },
  // Views, the console and the sign-in page load these files in browsers.
  { part: /^kernel\/(hiddenCharacters|initials|textSearch)\.ts$/, never: /./ },
  { part: /\/rules\//, never: /^kernel\/(firestore|realtime|platform)|^vendors\// },
  { part: /\/rules\//, never: /\/(store|firestore|realtime)\// },
  { part: /\/(rules|store|firestore|realtime)\//, never: /\/tools\/|^mcp\/|^signin\/(http|page)\// },
  // The code for runs imports steps, steps import calls, and calls import agents. The reverse is forbidden.
  { part: /orchestration\/rules\/steps\//, never: /orchestration\/rules\/runs\// },
  { part: /orchestration\/rules\/calls\//, never: /orchestration\/rules\/(runs|steps)\// },
  { part: /orchestration\/rules\/agents\//, never: /orchestration\/rules\/(runs|steps|calls)\// },
  // Only the composition root creates features. Other code may import only the types of their services.
  { part: /^(?!composition\/)/, never: /(^|\/)create\.ts$/, butTypes: true },
  { part: /\/tools\//, never: /\/(store|firestore|realtime)\/|^kernel\/(firestore|realtime|platform)/ },
];

/** Folders that may import each package that functions/src uses. */
export const packageOwners: Readonly<Record<string, readonly string[]>> = {
  zod: ['kernel/', 'identity/', 'limits/', 'agents/', 'access/', 'graph/', 'mcp/', 'signin/', 'toolsets/', 'vendors/'],
  '@modelcontextprotocol': ['mcp/'],
  '@google-cloud/firestore': [
    'kernel/firestore/',
    'identity/store/',
    'agents/store/',
    'access/store/',
    'toolsets/*/store/',
    'toolsets/firebase/firestore/',
    'composition/',
  ],
  '@google-cloud/pubsub': ['vendors/pubsub/'],
  'google-auth-library': ['toolsets/firebase/firestore/', 'vendors/vertexAccess.ts'],
  'firebase-admin/app': [
    'kernel/',
    'identity/store/',
    'access/store/',
    'toolsets/firebase/realtime/',
    'toolsets/todo/store/',
    'vendors/',
  ],
  'firebase-admin/auth': ['identity/store/', 'access/store/', 'toolsets/todo/store/'],
  'firebase-admin/database': [
    'kernel/realtime/',
    'limits/store/',
    'agents/store/',
    'access/store/',
    'toolsets/*/store/',
    'toolsets/firebase/realtime/',
  ],
  'firebase-admin/functions': ['vendors/cloudtasks/'],
  'firebase-admin/messaging': ['vendors/fcm/'],
  '@octokit': ['vendors/octokit/'],
  '@anthropic-ai/sdk': ['vendors/anthropic/'],
  '@anthropic-ai/vertex-sdk': ['vendors/anthropic/'],
  '@google/genai': ['vendors/gemini/'],
  openai: ['vendors/openai/'],
  'rrule-temporal': ['toolsets/todo/rules/'],
  'temporal-polyfill': ['toolsets/todo/rules/'],
  'chrono-node': ['toolsets/todo/rules/'],
  rrule: ['toolsets/todo/rules/'],
  nodemailer: ['vendors/smtp/'],
  '@marcbachmann/cel-js': ['toolsets/orchestration/rules/workflows/'],
  mustache: ['toolsets/orchestration/rules/workflows/', 'signin/http/'],
  'ipaddr.js': ['vendors/clientdocument/'],
  firebase: ['signin/page/'],
  'firebase-functions': ['entry/', 'config.ts', 'kernel/platform.ts'],
  'node:async_hooks': ['kernel/trace.ts'],
  'node:diagnostics_channel': ['entry/'],
  'node:dns': ['vendors/clientdocument/'],
  'node:fs': ['kernel/platform.ts'],
  'node:http': ['mcp/', 'entry/', 'signin/http/', 'vendors/fcm/', 'vendors/clientdocument/'],
  'node:https': ['vendors/clientdocument/'],
  'node:net': ['vendors/fcm/', 'vendors/clientdocument/'],
  'node:stream': ['mcp/'],
  'node:stream/web': ['mcp/'],
  'node:timers/promises': ['kernel/platform.ts'],
  'node:util': ['mcp/'],
  'node:zlib': ['mcp/'],
  'node:crypto': ['kernel/platform.ts', 'kernel/effects.ts'],
};

/** Returns the most specific layer that contains the file. */
export function moduleOf(file: string): string | undefined {
  const holding = Object.keys(modules).filter((one) => (one.endsWith('/') ? file.startsWith(one) : file === one));
  return holding.sort((a, b) => b.length - a.length)[0];
}
