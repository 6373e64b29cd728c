/** Creates self-signed certificates for TLS servers in tests. Source: RFC 5280 (certificates), X.690 (encoding). */
import { generateKeyPairSync, sign } from 'node:crypto';

const [INTEGER, BIT_STRING, OCTET_STRING, UTF8_STRING, UTC_TIME] = [0x02, 0x03, 0x04, 0x0c, 0x17];
const [SEQUENCE, SET, DNS_NAME, VERSION, EXTENSIONS] = [0x30, 0x31, 0x82, 0xa0, 0xa3];
const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const SUBJECT_ALTERNATIVE_NAME = Buffer.from('0603551d11', 'hex');
const DAY_MS = 86_400_000;

/** A private key and its certificate, both in PEM format. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Returns a self-signed certificate for the host, valid from yesterday until tomorrow. */
export function selfSigned(host: string): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256);
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(host)))));
  const names = der(SEQUENCE, der(DNS_NAME, Buffer.from(host)));
  const toBeSigned = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.of(2))),
    der(INTEGER, Buffer.of(1)),
    algorithm,
    name,
    der(SEQUENCE, time(Date.now() - DAY_MS), time(Date.now() + DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(SEQUENCE, der(SEQUENCE, SUBJECT_ALTERNATIVE_NAME, der(OCTET_STRING, names)))),
  );
  const signature = Buffer.concat([Buffer.of(0), sign('sha256', toBeSigned, privateKey)]);
  const certificate = der(SEQUENCE, toBeSigned, algorithm, der(BIT_STRING, signature));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag), length(content.length), content]);
}

function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.of(bytes);
  const digits = Buffer.from(bytes.toString(16).padStart(bytes < 0x100 ? 2 : 4, '0'), 'hex');
  return Buffer.concat([Buffer.of(0x80 + digits.length), digits]);
}

/** Encodes a time in the form `YYMMDDHHMMSSZ`. */
function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(UTC_TIME, Buffer.from(`${digits}Z`));
}
