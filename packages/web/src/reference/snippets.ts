/** A request as the reference sends it. */
export type SnippetRequest = { method: string; url: string; headers: Record<string, string>; body?: string | undefined }

/** A paid answer needs a wallet; on a demo node one is at hand. */
export type SnippetOptions = { paid: boolean; demo: boolean; maxUsd?: string | undefined }

export const languages = {
  curl: { title: 'curl', syntax: 'bash' },
  cli: { title: 'assay', syntax: 'bash' },
  javascript: { title: 'JavaScript', syntax: 'javascript' },
  python: { title: 'Python', syntax: 'python' },
} as const

export type Language = keyof typeof languages

export function snippetOf(language: Language, request: SnippetRequest, options: SnippetOptions): string {
  return { curl, cli, javascript, python }[language](request, options)
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Drops headers that a browser adds, except those that change the answer. */
const kept = ({ headers }: SnippetRequest): [string, string][] =>
  Object.entries(headers).filter(([name]) => /^(?:accept|content-type|authorization|idempotency-key)$/i.test(name))

function curl(request: SnippetRequest, { paid }: SnippetOptions): string {
  const { method, url, body } = request
  return [
    ...(paid ? ['# Answers 402 with the price; the other languages pay it.'] : []),
    [
      `curl ${quoted(url)}`,
      ...(method === 'GET' ? [] : [`-X ${method}`]),
      ...kept(request).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
      ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
    ].join(' \\\n  '),
  ].join('\n')
}

const cliWords = ({ method, url, body }: SnippetRequest, { demo, maxUsd = '0.05' }: SnippetOptions): string[] => [
  'npx',
  'assay',
  'buy',
  url,
  ...(method === 'GET' ? [] : ['-X', method]),
  ...(body === undefined ? [] : ['-d', body]),
  ...(demo ? ['--demo'] : ['--max-amount', maxUsd]),
]

/** `buy` also fetches what is free. */
const cli = (request: SnippetRequest, options: SnippetOptions): string =>
  cliWords(request, options)
    .map((word) => (/^[\w./-]+$/.test(word) ? word : quoted(word)))
    .join(' ')

const literal = (value: unknown) => JSON.stringify(value, null, 2)

function initText(request: SnippetRequest): string {
  const { method, body } = request
  const init = {
    ...(method === 'GET' ? {} : { method }),
    ...(kept(request).length === 0 ? {} : { headers: Object.fromEntries(kept(request)) }),
    ...(body === undefined ? {} : { body }),
  }
  return Object.keys(init).length === 0 ? '' : `, ${literal(init)}`
}

function javascript(request: SnippetRequest, { paid, demo, maxUsd = '0.05' }: SnippetOptions): string {
  const { url } = request
  if (!paid)
    return [
      `const response = await fetch(${literal(url)}${initText(request)})`,
      'console.log(await response.json())',
    ].join('\n')
  const { origin } = new URL(url)
  const wallet = demo
    ? [
        `const { accounts, networks } = await readDemo(${literal(origin)})`,
        "const { privateKey } = accounts.find(({ role }) => role === 'buyer')",
      ]
    : ['const privateKey = process.env.ASSAY_KEY']
  return [
    `import { createAssayClient${demo ? ', readDemo' : ''} } from '@assay/sdk'`,
    "import { privateKeyToAccount } from 'viem/accounts'",
    '',
    ...wallet,
    `const client = createAssayClient({ account: privateKeyToAccount(privateKey), maxPerCallUsd: '${maxUsd}'${demo ? ', networks' : ''} })`,
    `const { response, payment } = await client.fetch(${literal(url)}${initText(request)})`,
    'console.log(await response.json(), payment)',
  ].join('\n')
}

/** Free answers with the standard library; paid ones through the command line, which signs and verifies. */
function python(request: SnippetRequest, options: SnippetOptions): string {
  const { method, url, body } = request
  if (options.paid)
    return [
      'import json, subprocess',
      '',
      `command = ${literal(cliWords(request, options))}`,
      'bought = subprocess.run(command + ["--json"], stdout=subprocess.PIPE, check=True)',
      'print(json.dumps(json.loads(bought.stdout)["answer"], indent=2))',
    ].join('\n')
  return [
    'import json',
    'from urllib.request import Request, urlopen',
    '',
    `request = Request(${literal(url)}, method=${literal(method)}, headers=${literal(Object.fromEntries(kept(request)))}${body === undefined ? '' : `, data=${literal(body)}.encode()`})`,
    'with urlopen(request) as response:',
    '    print(json.dumps(json.load(response), indent=2))',
  ].join('\n')
}
