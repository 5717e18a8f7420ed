import type { Assets } from './assets.ts'

export type PageOrigins = { baseUrl: string; apiUrl: string }

/** The page itself: no text except what is read while the scripts arrive, and what is said where there are none. */
export function consolePage({ entries }: Pick<Assets, 'entries'>): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Assay</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="Verified, signed answers, paid per call in USDC with x402.">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<script src="/console/${entries.theme}"></script>
<link rel="stylesheet" href="/console/${entries.style}">
${entries.preloads.map((name) => `<link rel="modulepreload" href="/console/${name}">\n`).join('')}<script type="module" src="/console/${entries.script}"></script>
</head>
<body>
<div id="app"></div>
<noscript><p>The console needs JavaScript. Everything it shows is also at <a href="/llms.txt">/llms.txt</a> and <a href="/openapi.json">/openapi.json</a>.</p></noscript>
</body>
</html>
`
}

export function referencePage({ entries }: Pick<Assets, 'entries'>): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Assay API reference</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<script src="/console/${entries.theme}"></script>
<link rel="stylesheet" href="/console/${entries.referenceStyle}">
<script type="module" src="/console/${entries.reference}"></script>
</head>
<body>
<header class="reference-head"><a href="/">Console</a> <a href="/openapi.json">openapi.json</a> <a href="/llms.txt">llms.txt</a> <a href="/errors">Error codes</a> <span id="pay"></span></header>
<main id="reference"><p class="reference-wait" role="status">Loading the description of every operation…</p></main>
<noscript><p>The reference needs JavaScript. Its document is <a href="/openapi.json">/openapi.json</a>.</p></noscript>
</body>
</html>
`
}

/** The component of the reference writes sanitized HTML itself, which trusted types forbid; the rest is the same. */
export const referenceHeaders = (origins: PageOrigins): Record<string, string> => policyHeaders(origins, [])

/** Own scripts and styles only, nothing inline, and no talk with anybody but this node. */
export const pageHeaders = (origins: PageOrigins): Record<string, string> =>
  policyHeaders(origins, ["require-trusted-types-for 'script'"])

function policyHeaders({ baseUrl, apiUrl }: PageOrigins, more: readonly string[]): Record<string, string> {
  const origins = [...new Set([new URL(baseUrl).origin, new URL(apiUrl).origin])]
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data:",
      `connect-src 'self' ${origins.join(' ')}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      ...more,
    ].join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
    Vary: 'Accept',
  }
}
