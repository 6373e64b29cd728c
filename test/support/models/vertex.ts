/**
 * Local versions of Claude and Gemini on Vertex AI: other paths, a token of Google instead of a key, and errors in
 * Google's format, as the only item of a list. Source: https://cloud.google.com/vertex-ai/generative-ai/docs
 */
import { z } from 'zod';
import { anthropic } from './anthropic.ts';
import type { Dialect } from './dialect.ts';
import { Unacceptable } from './dialect.ts';
import { gemini } from './gemini.ts';

const MODEL = '/projects/demo-muster/locations/global/publishers';
const CLAUDE = new RegExp(`^/v1${MODEL}/anthropic/models/([\\w.@-]+):(rawPredict|streamRawPredict)$`);
const GEMINI = new RegExp(`^/v1beta1${MODEL}/google/models/([\\w.-]+):(generateContent|streamGenerateContent)$`);

const admits: Dialect['admits'] = ({ authorization, ...others }) =>
  !('x-api-key' in others || 'x-goog-api-key' in others) && /^Bearer (?!wrong)\S+$/.test(String(authorization));

const error: Dialect['error'] = (status) => [gemini.error(status)];

/** The model is in the path, and the version of the API in the body. */
const request = z.looseObject({ model: z.undefined().optional(), anthropic_version: z.string() });

export const vertexClaude: Dialect = {
  ...anthropic,
  vendor: 'vertex-claude',
  serves: (path) => CLAUDE.test(path),
  admits,
  read(path, headers, body) {
    const { success, data } = request.safeParse(body);
    if (!success) throw new Unacceptable('expected anthropic_version, and no model');
    const { anthropic_version: version, model: _, ...rest } = data;
    const [, model] = CLAUDE.exec(path) ?? [];
    return anthropic.read('', { ...headers, 'anthropic-version': version }, { ...rest, model });
  },
  error,
};

export const vertexGemini: Dialect = {
  ...gemini,
  vendor: 'vertex-gemini',
  serves: (path) => GEMINI.test(path),
  admits,
  read: (path, headers, body) => gemini.read(path.replace(/^.*\/models\//, '/v1beta/models/'), headers, body),
  error,
};
