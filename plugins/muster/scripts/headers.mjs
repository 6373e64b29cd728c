// @ts-check
/** The headers of the connection: the credential of MUSTER_TOKEN, or none if its person signs in or others could read it. */
import { hasCredential } from './hub.mjs';

const token = process.env.MUSTER_TOKEN;
if (token && !hasCredential)
  process.stderr.write('MUSTER_URL: http sends the credential unencrypted to another machine. Use https.\n');
process.stdout.write(JSON.stringify(hasCredential ? { Authorization: `Bearer ${token}` } : {}));
