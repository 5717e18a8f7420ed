import { expect, test } from 'vitest'
import { readPage } from './read-page.ts'

const tag = '<meta name="citation-market-verification" content="cm1 owner">'
const found = (html: string) => {
  const page = readPage(Buffer.from(html), 'https://a.test/', new Map())
  if ('problem' in page) throw new Error(page.detail)
  return page.facts.verifications
}

const outside: Record<string, string> = {
  'in the body': `<html><head></head><body>${tag}</body></html>`,
  'in a body without tags': `<title>Blog</title><p>Hello</p>${tag}`,
  'after a div before </head>': `<html><head><div></div>${tag}</head><body></body></html>`,
  'after text in the head': `<html><head>Hello ${tag}</head></html>`,
  'after a no-break space in the head': `<html><head>\u00a0${tag}</head></html>`,
  'after </head>': `<html><head></head>${tag}<body></body></html>`,
  'after a stray </body>': `<html><head></body>${tag}</head></html>`,
  'after a stray </br>': `<html><head></br>${tag}</head></html>`,
  'in noscript': `<html><head><noscript>${tag}</noscript></head></html>`,
  'in a template': `<html><head><template>${tag}</template></head></html>`,
  'in a template after a nested one': `<html><head><template><template></template>${tag}</template></head></html>`,
  'in a comment': `<html><head><!-- ${tag} --></head></html>`,
  'after an element that an empty comment does not hide': `<html><head><!--><div>-->${tag}</head></html>`,
  'after an element behind a comment that ends with --!>': `<html><head><!-- a --!><div>-->${tag}</head></html>`,
  'in a textarea': `<html><head><textarea>${tag}</textarea></head></html>`,
  'after a textarea': `<html><head><textarea></textarea>${tag}</head></html>`,
  'in svg': `<html><head><svg>${tag}</svg></head></html>`,
  'in the title of svg': `<html><head><svg><title>${tag}</title></svg></head></html>`,
  'in the title': `<html><head><title>${tag}</title></head></html>`,
  'in the title, after the end tag of another name': `<html><head><title></title1>${tag}</title></head></html>`,
  'in a title that looks self-closing': `<html><head><title/>${tag}</title></head></html>`,
  'in a script': `<html><head><script>'${tag}'</script></head></html>`,
  'in a script whose end tag is escaped': `<html><head><script><!--<script></script>${tag}--></script></head></html>`,
  'in a style': `<html><head><style>${tag}</style></head></html>`,
  'in an iframe': `<html><head><iframe>${tag}</iframe></head></html>`,
  'in a frameset': `<html><frameset>${tag}</frameset></html>`,
  'in an attribute': `<html><head><link title='${tag}'></head></html>`,
}

test.each(Object.entries(outside))('a meta tag that the parser keeps out of the head counted: %s', (_, html) => {
  expect(found(html)).toEqual([])
})

const inside: Record<string, string> = {
  'in a plain head': `<!doctype html><html><head>${tag}</head><body></body></html>`,
  'without html and head tags': `<!doctype html>\n<title>Blog</title>${tag}<p>Hello`,
  'after everything a head may hold': `<!DOCTYPE html><!-- c --><html lang="en">\n<head>\n<base href="/"><link rel="a"><meta charset="utf-8"><style>p>a{}</style><script>if (1 < 2) go('<div>')</script><noscript><img src="p"></noscript><template><p>x</p></template><!----><title>a < b</title></p>\n${tag}</head>`,
}

test.each(Object.entries(inside))('a meta tag in the head counts: %s', (_, html) => {
  expect(found(html)).toEqual(['cm1 owner'])
})
