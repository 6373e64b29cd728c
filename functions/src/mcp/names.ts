/**
 * What tools are called on the wire. Some clients refuse a dot in a tool's name and lose the whole server
 * with it, so dots are taken but never listed. Source: docs/semantics.md#the-endpoint.
 */

/** The four toolsets whose specification puts the toolset into every tool's name: `firebase.read`. */
export const NETWORK_TOOLSETS: readonly string[] = ['firebase', 'github', 'onboarding', 'system'];

/** `own`: as the toolset's specification writes it, at `/mcp/<toolset>`. `prefixed`: at `/mcp`. */
export type Dialect = 'own' | 'prefixed';

/** No listed name is longer, nor has other characters than `[A-Za-z0-9_]`. */
export const MAX_NAME_LENGTH = 50;

/** The name in logs, in idempotency records and in errors: `coordination.create_task`. */
export function fullName(toolset: string, name: string): string {
  return `${toolset}.${name}`;
}

/** The name in `tools/list`. */
export function wireName(toolset: string, name: string, dialect: Dialect): string {
  const bare = dialect === 'own' && !NETWORK_TOOLSETS.includes(toolset);
  return bare || name.startsWith(`${toolset}_`) ? name : `${toolset}_${name}`;
}

/** Every name under which `tools/call` finds the tool. */
export function acceptedNames(toolset: string, name: string, dialect: Dialect): readonly string[] {
  const names = [
    wireName(toolset, name, dialect),
    wireName(toolset, name, 'prefixed'),
    fullName(toolset, name),
  ];
  return [...new Set(names)];
}
