import type { HtmlToken } from './html-tokens.ts'

// Start tags that the rule "in head" of HTML keeps in the head.
const inHead = new Set([
  'html',
  'head',
  'base',
  'basefont',
  'bgsound',
  'link',
  'meta',
  'title',
  'noscript',
  'noframes',
  'style',
  'script',
  'template',
])
const withContent = new Set(['title', 'noscript', 'noframes', 'style', 'script', 'template'])
const endTagsOfBody = new Set(['head', 'body', 'html', 'br'])
const moreThanSpace = /[^\t\n\f\r ]/

/**
 * The start tags of the head, as far as a browser's parser would keep them there: text, an element of the body, or its
 * end tag ends the head wherever `</head>` is written. Visitors write into the body, only the owner writes the head.
 * Where HTML is more generous (a tag between `</head>` and `<body>`, a self-closing script) the head ends here.
 */
export function* headTags(tokens: Iterable<HtmlToken>): Generator<HtmlToken & { kind: 'open' }> {
  let content: string | undefined
  for (const token of tokens) {
    if (token.kind === 'close') {
      if (endTagsOfBody.has(token.name)) return
      content = undefined
    } else if (token.kind === 'text') {
      if (content === undefined ? moreThanSpace.test(token.text) : content === 'script' && escapes(token.text)) return
    } else {
      if (!inHead.has(token.name) || (withContent.has(token.name) && token.selfClosing)) return
      content = withContent.has(token.name) ? token.name : undefined
      yield token
    }
  }
}

/** After these two a script goes on behind its first end tag. */
const escapes = (script: string) => {
  const comment = script.indexOf('<!--')
  return comment >= 0 && /<script[\t\n\f\r />]/i.test(script.slice(comment))
}
