/** Gemini models on Vertex AI. Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference */
import type { GoogleGenAI } from '@google/genai';
import type { ModelFailure } from '../../toolsets/orchestration/index.ts';
import type { Progress } from '../modelFailure.ts';
import { identityWithToken, type VertexSettings, vertexFailure } from '../vertexAccess.ts';
import { Gemini } from './gemini.ts';

export class VertexGemini extends Gemini<VertexSettings> {
  protected override async connect(): Promise<GoogleGenAI> {
    const { GoogleGenAI: Client } = await import('@google/genai');
    const { project, location, baseUrl } = this.settings;
    const authClient = await identityWithToken(this.settings);
    return new Client({
      vertexai: true,
      project,
      location,
      googleAuthOptions: { authClient },
      httpOptions: { baseUrl },
    });
  }

  protected override async prepare(): Promise<void> {
    await identityWithToken(this.settings);
  }

  protected override failureOf(error: unknown, progress: Progress): ModelFailure {
    return vertexFailure(error, progress) ?? super.failureOf(error, progress);
  }
}
