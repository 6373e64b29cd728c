/** Claude models on Vertex AI. Source: https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai */
import { fetchOnce } from '../vendorModel.ts';
import { identityWithToken, type VertexSettings, vertexPlatform } from '../vertexAccess.ts';
import { Claude, type MessagesClient } from './claude.ts';

export class VertexClaude extends Claude<VertexSettings> {
  protected override readonly platform = vertexPlatform(this.settings);

  protected override async connect(): Promise<MessagesClient> {
    const { AnthropicVertex } = await import('@anthropic-ai/vertex-sdk');
    const { project, location, baseUrl } = this.settings;
    return new AnthropicVertex({
      projectId: project,
      region: location,
      baseURL: `${baseUrl}/v1`,
      authClient: await identityWithToken(this.settings),
      maxRetries: 0,
      fetch: fetchOnce,
      logLevel: 'off', // The SDK's log may quote responses.
    });
  }
}
