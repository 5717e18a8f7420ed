import { expect, test } from 'vitest'
import { encodingFor } from './asset-route.ts'
import { consolePage, pageHeaders, referenceHeaders, referencePage } from './page.ts'

const entries = {
  script: 'console-A.js',
  style: 'console-B.css',
  theme: 'theme-C.js',
  preloads: ['chunk-D.js'],
  reference: 'reference-E.js',
  referenceStyle: 'reference-F.css',
}

test('the page has no inline script or style, and names the files it needs', () => {
  const page = consolePage({ entries })
  for (const name of ['console-A.js', 'console-B.css', 'theme-C.js', 'chunk-D.js'])
    expect(page).toContain(`/console/${name}"`)
  expect(page).not.toMatch(/<script>|<style|style=|onload=|https?:/)
})

test('the page may talk with its own node at both of its addresses and with nobody else', () => {
  const policy = pageHeaders({ baseUrl: 'https://a.example', apiUrl: 'https://b.example' })['Content-Security-Policy']
  expect(policy).toContain("connect-src 'self' https://a.example https://b.example;")
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
})

test('the reference loads its own files, allows nothing inline and talks with this node alone', () => {
  const page = referencePage({ entries })
  for (const name of ['reference-E.js', 'reference-F.css', 'theme-C.js']) expect(page).toContain(`/console/${name}"`)
  expect(page).not.toMatch(/<script>|<style|style=|onload=|https?:/)
  const policy = referenceHeaders({ baseUrl: 'https://a.example', apiUrl: 'https://b.example' })[
    'Content-Security-Policy'
  ]
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("connect-src 'self' https://a.example https://b.example;")
  expect(policy).not.toContain('unsafe')
})

test('files are sent in the smallest form the caller takes', () => {
  expect(encodingFor('gzip, deflate, br, zstd')).toBe('br')
  expect(encodingFor('gzip;q=0.5, br;q=0')).toBe('gzip')
  expect(encodingFor('identity')).toBe('identity')
  expect(encodingFor(undefined)).toBe('identity')
})
