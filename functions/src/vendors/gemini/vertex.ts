/** Gemini models on Vertex AI. Source: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference */
import type { GoogleGenAI } from '@google/genai';
import { identityWithToken, type VertexSettings, vertexPlatform } from '../vertexAccess.ts';
import { Gemini } from './gemini.ts';

export class VertexGemini extends Gemini<VertexSettings> {
  protected override readonly platform = vertexPlatform(this.settings);

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
}
