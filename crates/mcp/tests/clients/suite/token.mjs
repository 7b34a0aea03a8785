// Sends the token of the server with every request of the suite, which has no option for it.

import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { Agent, setGlobalDispatcher } from 'undici'

const authorization = `Bearer ${process.env.CONTEXTREE_TOKEN}`

// `fetch`, and `request` of undici.
function named(headers) {
  if (headers && typeof headers[Symbol.iterator] === 'function') return [...headers].flat().concat('authorization', authorization)
  return { ...headers, authorization }
}
const withToken = (dispatch) => (options, handler) => dispatch({ ...options, headers: named(options.headers) }, handler)
setGlobalDispatcher(new Agent().compose(withToken))

// Scenarios that choose the spelling of their headers.
const { request } = http
http.request = (...parameters) => {
  const options = parameters.find((it) => it && typeof it === 'object' && !(it instanceof URL))
  options.headers = { ...options.headers, authorization }
  return request(...parameters)
}
syncBuiltinESMExports()
