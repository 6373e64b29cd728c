/** What a browser may do on a page of the sign-in: next to nothing. Source: CSP Level 3; OWASP, "Clickjacking Defense". */

import type { FirebaseSettings } from './visit.ts';
import { NOT_STORED } from './visit.ts';

/** Where Firebase's SDK signs in. */
const FIREBASE = ['https://identitytoolkit.googleapis.com', 'https://securetoken.googleapis.com'];

/** Google's window is opened by a script of Google's, in a frame of the project's own domain. */
const GOOGLE = 'https://apis.google.com';

export function pageHeaders({ emulator, google, authDomain }: FirebaseSettings): Record<string, string> {
  const asked = emulator === undefined ? FIREBASE : [emulator];
  const policy = {
    'default-src': ["'none'"],
    'script-src': ["'self'", ...(google ? [GOOGLE] : [])],
    'style-src': ["'self'"],
    'connect-src': ["'self'", ...asked],
    ...(google && { 'frame-src': [emulator ?? `https://${authDomain}`] }),
    'base-uri': ["'none'"],
    // A form that were sent could lead away; the script sends nothing by one.
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
    // Google's script makes others, which the SDK does not declare.
    ...(!google && { 'require-trusted-types-for': ["'script'"], 'trusted-types': ["'none'"] }),
  };
  return {
    ...NOT_STORED,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': Object.entries(policy)
      .map(([name, values]) => [name, ...values].join(' '))
      .join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  };
}
