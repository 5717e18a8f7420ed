// For a content delivery network that runs fetch handlers (Cloudflare Workers and the like): crawlers are sent to the
// seller, everybody else to the site as it is. Set SELLER to the origin that runs app.ts.
const aiCrawlers =
  /\b(?:GPTBot|ChatGPT-User|OAI-SearchBot|ClaudeBot|Claude-User|Claude-SearchBot|anthropic-ai|CCBot|PerplexityBot|Perplexity-User|Bytespider|Amazonbot|Meta-ExternalAgent|meta-externalfetcher|cohere-ai|DuckAssistBot|MistralAI-User|YouBot|Diffbot|AI2Bot|Timpibot)\b/i

export default {
  fetch(request, env) {
    const { pathname, search } = new URL(request.url)
    const pays =
      pathname.startsWith('/articles/') &&
      (aiCrawlers.test(request.headers.get('user-agent') ?? '') || request.headers.has('payment-signature'))
    // Answers are signed for the public address: the seller has it as `publicUrl`.
    return pays ? fetch(new Request(new URL(pathname + search, env.SELLER), request)) : fetch(request)
  },
}
