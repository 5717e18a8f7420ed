import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(path, 'utf8')
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found)

const unit = read('deploy/assay.service')
const compose = read('deploy/compose.yaml')
const guide = read('docs/deploy.md')

test('the unit gives the node each key file that the guide makes, and the command reads the same ones', () => {
  const credentials = all(unit, /^LoadCredential=(\w+):\/etc\/assay\/\1$/gm)
  expect(all(unit, /^Environment=\w+_FILE=%d\/(\w+)$/gm)).toEqual(credentials)
  expect(all(read('deploy/assay.sh'), /_FILE:=\/etc\/assay\/(\w+)\}/g)).toEqual(credentials)
  expect(all(compose, /_FILE: \/run\/secrets\/(\w+)$/gm).filter((name) => name !== 'database_password')).toEqual(
    credentials,
  )
  for (const name of credentials) expect(guide).toMatch(new RegExp(`(-out|touch) .*\\b${name}\\b`))
})

test('the unit lets the node list its own addresses, without which it does not start', () => {
  expect(unit).toMatch(/^RestrictAddressFamilies=.*\bAF_NETLINK\b/m)
  expect(read('packages/node/src/outbound/own-addresses-adapter.ts')).toContain('networkInterfaces()')
})

test('what the image copies and starts is in the repository', () => {
  const copied = all(read('deploy/Dockerfile'), /^COPY (?!--from)(.+) \S+$/gm).flatMap((list) => list.split(' '))
  expect(copied.length).toBeGreaterThan(8)
  for (const path of [...copied, 'scripts/start.mjs', 'packages/cli/bin/assay.mjs'])
    expect(existsSync(path), path).toBe(true)
})

test('the guide sets what compose cannot start without', () => {
  const required = all(compose, /\$\{(\w+):\?/g)
  expect(required).toEqual(['BASE_HOST', 'API_HOST'])
  for (const name of required) expect(guide).toContain(`${name}=`)
  expect(read('.gitignore')).toContain('deploy/.env\n')
})
