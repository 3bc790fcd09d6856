BEGIN TRANSACTION;
CREATE TABLE approvals (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    request BLOB NOT NULL,
    pending INTEGER NOT NULL,
    decision TEXT,
    note TEXT
);
CREATE TABLE "events" (
    chat INTEGER NOT NULL REFERENCES sessions (n) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    from_seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    payload BLOB NOT NULL,
    UNIQUE (chat, seq)
);
INSERT INTO "events" VALUES(1,1,1,'2026-01-01T12:00:00.000Z',CAST('{"session":{"id":"s_01m8pveb7eeb5zgcjcravrmfhg","title":"Hello","created_at":"2026-01-01T12:00:00.000Z","updated_at":"2026-01-01T12:00:00.000Z","visible":true,"pinned":false,"deleted":false,"status":"idle","model":null,"permission_mode":"auto","workspace":null,"leaf_id":null},"type":"session_changed"}' AS BLOB));
INSERT INTO "events" VALUES(1,2,2,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7g6m3gvx52erheegne","type":"turn_accepted"}' AS BLOB));
INSERT INTO "events" VALUES(1,3,3,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb7frf99cpdhyfpy43ap","parent_id":null,"role":"user","blocks":[{"text":"Hello","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,4,4,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7g6m3gvx52erheegne","fingerprint":"1559f27650582507c15ac045a2d152c8","tools":["bash","notes","read","tool_search","weather"],"residency":{"bash":"resident","notes":"deferred","read":"resident","tool_search":"resident","weather":"deferred"},"intent_revision":0,"registry_version":2,"type":"turn_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,5,5,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb7j6vhzdzfgpm4nma1k","parent_id":"m_01m8pveb7frf99cpdhyfpy43ap","role":"notice","blocks":[{"text":"Today''s date is 2026-01-01.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb7g6m3gvx52erheegne","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,6,6,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7g6m3gvx52erheegne","step":1,"message_id":"m_01m8pveb7js6ejtcbjkprp36ws","parent_id":"m_01m8pveb7j6vhzdzfgpm4nma1k","model":"fake/model","resident":["bash","call_tool","read","tool_search"],"loaded":[],"deferred_count":2,"plan":{"kind":"rebase","reason":"first_request","epoch":1,"declared":["bash","call_tool","read","tool_search"],"masked":[],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"bridge"},"reason":"first_request","causes":[],"kept":0,"segments":[{"kind":"tool","key":"bash","digest":"b653b3dbcc069c649f0c5d7ef6ea5b63"},{"kind":"tool","key":"call_tool","digest":"8110da153caa44005cb3bbf348230b08"},{"kind":"tool","key":"read","digest":"c1aa9d475ae500c20835ed0cc79c06ae"},{"kind":"tool","key":"tool_search","digest":"f175b8bdec41f301950e203b856040d1"},{"kind":"system","key":"0","digest":"826b9ed874ba1b7b0623f4483c29f82c"},{"kind":"system","key":"1","digest":"4afd7dccc5a1fc49612e1e2d777f6219"},{"kind":"system","key":"2","digest":"86443c1987cb41f020d7067d9dabf894"},{"kind":"message","key":"m_01m8pveb7frf99cpdhyfpy43ap","digest":"9703b042c7de28ca299256c2110de8c7"},{"kind":"message","key":"m_01m8pveb7j6vhzdzfgpm4nma1k","digest":"2b25d704f940f53b84afbf4352769a33"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,7,7,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7g6m3gvx52erheegne","step":1,"message_id":"m_01m8pveb7js6ejtcbjkprp36ws","model":"fake/model","usage":{"uncached":null,"cache_read":null,"cache_write_5m":null,"cache_write_1h":null,"output":null,"reasoning":null},"cost":null,"cache":{"read":null,"missed":null,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,8,8,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb7js6ejtcbjkprp36ws","parent_id":"m_01m8pveb7j6vhzdzfgpm4nma1k","role":"assistant","blocks":[{"text":"A greeting.","signature":"c2lnbmVk","redacted":null,"duration_ms":null,"type":"reasoning"},{"text":"Hi.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb7g6m3gvx52erheegne","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,9,9,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7g6m3gvx52erheegne","reason":"done","error":null,"type":"turn_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,10,10,'2026-01-01T12:00:00.000Z',CAST('{"intent":{"enabled":null,"toolset":null,"web_search":null,"disabled":["bash"],"picked":null,"allowed":null},"revision":1,"effective":{"web_search":{"state":"off","reason":null}},"type":"intent_changed"}' AS BLOB));
INSERT INTO "events" VALUES(1,11,11,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7r1cmvqabcev897mmt","type":"turn_accepted"}' AS BLOB));
INSERT INTO "events" VALUES(1,12,12,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb7r741n4z0v3z3wdfyf","parent_id":"m_01m8pveb7js6ejtcbjkprp36ws","role":"user","blocks":[{"text":"Run it","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,13,13,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7r1cmvqabcev897mmt","fingerprint":"fd998d636b9b09485a97ac48828b8a90","tools":["notes","read","tool_search","weather"],"residency":{"notes":"deferred","read":"resident","tool_search":"resident","weather":"deferred"},"intent_revision":1,"registry_version":2,"type":"turn_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,14,14,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb7s67r23hya7m4h72yr","parent_id":"m_01m8pveb7r741n4z0v3z3wdfyf","role":"notice","blocks":[{"text":"Switched off, calls will be refused: bash.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb7r1cmvqabcev897mmt","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,15,15,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7r1cmvqabcev897mmt","step":1,"message_id":"m_01m8pveb7sawzyqgdrbgr71edm","parent_id":"m_01m8pveb7s67r23hya7m4h72yr","model":"fake/model","resident":["bash","call_tool","read","tool_search"],"loaded":[],"deferred_count":2,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","call_tool","read","tool_search"],"masked":["bash"],"withdrawn":["bash"],"restored":[],"added":[],"predicted_loss":0,"strategy":"bridge"},"reason":"unchanged","causes":["withdrawn:bash"],"kept":9,"segments":[{"kind":"message","key":"m_01m8pveb7js6ejtcbjkprp36ws","digest":"de35fe34b2d459cc56114fc08aae8908"},{"kind":"message","key":"m_01m8pveb7r741n4z0v3z3wdfyf","digest":"757fc4149af031827ea93d3d517010f3"},{"kind":"message","key":"m_01m8pveb7s67r23hya7m4h72yr","digest":"0b0d7b32f8047eb35cd97774e96a0a4b"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,16,16,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7r1cmvqabcev897mmt","step":1,"message_id":"m_01m8pveb7sawzyqgdrbgr71edm","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":null,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,17,17,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb7sawzyqgdrbgr71edm","parent_id":"m_01m8pveb7s67r23hya7m4h72yr","role":"assistant","blocks":[{"call_id":"c_1","name":"read","arguments":{},"bridged":false,"type":"tool_use"},{"call_id":"c_2","name":"bash","arguments":{},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb7r1cmvqabcev897mmt","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,18,18,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7r1cmvqabcev897mmt","message_id":"m_01m8pveb7sawzyqgdrbgr71edm","call_id":"c_1","name":"read","arguments":{},"type":"tool_call_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,19,19,'2026-01-01T12:00:00.000Z',CAST('{"call_id":"c_1","status":"ok","result":{"call_id":"c_1","status":"ok","content":[{"text":"read is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"},"duration_ms":1,"discovered":[],"type":"tool_call_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,20,20,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7r1cmvqabcev897mmt","message_id":"m_01m8pveb7sawzyqgdrbgr71edm","call_id":"c_2","name":"bash","arguments":{},"type":"tool_call_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,21,21,'2026-01-01T12:00:00.000Z',CAST('{"call_id":"c_2","status":"denied","result":{"call_id":"c_2","status":"denied","content":[{"text":"The tool bash is not available in this turn. Use one of the available tools, or answer without.","type":"text"}],"display":null,"duration_ms":0,"type":"tool_result"},"duration_ms":0,"discovered":[],"type":"tool_call_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,22,22,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb7t60n6a5gq50hgmm2x","parent_id":"m_01m8pveb7sawzyqgdrbgr71edm","role":"tool","blocks":[{"call_id":"c_1","status":"ok","content":[{"text":"read is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"},{"call_id":"c_2","status":"denied","content":[{"text":"The tool bash is not available in this turn. Use one of the available tools, or answer without.","type":"text"}],"display":null,"duration_ms":0,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb7r1cmvqabcev897mmt","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,23,23,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7r1cmvqabcev897mmt","step":2,"message_id":"m_01m8pveb7v3zvbsg7d94adwt0z","parent_id":"m_01m8pveb7t60n6a5gq50hgmm2x","model":"fake/model","resident":["bash","call_tool","read","tool_search"],"loaded":[],"deferred_count":2,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","call_tool","read","tool_search"],"masked":["bash"],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"bridge"},"reason":"unchanged","causes":[],"kept":12,"segments":[{"kind":"message","key":"m_01m8pveb7sawzyqgdrbgr71edm","digest":"ac442358cab8b53400d25a9a583cb798"},{"kind":"message","key":"m_01m8pveb7t60n6a5gq50hgmm2x","digest":"03456ad690dbdb97d59061c451cff143"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,24,24,'2026-01-01T12:00:00.000Z',CAST('{"message_id":"m_01m8pveb7v3zvbsg7d94adwt0z","block":0,"text":"It is off.","type":"text_delta"}' AS BLOB));
INSERT INTO "events" VALUES(1,25,25,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7r1cmvqabcev897mmt","step":2,"message_id":"m_01m8pveb7v3zvbsg7d94adwt0z","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,26,26,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb7v3zvbsg7d94adwt0z","parent_id":"m_01m8pveb7t60n6a5gq50hgmm2x","role":"assistant","blocks":[{"text":"It is off.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb7r1cmvqabcev897mmt","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,27,27,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb7r1cmvqabcev897mmt","reason":"done","error":null,"type":"turn_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,28,28,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","type":"turn_accepted"}' AS BLOB));
INSERT INTO "events" VALUES(1,29,29,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb870y9xw2q3ws79mc5s","parent_id":"m_01m8pveb7v3zvbsg7d94adwt0z","role":"user","blocks":[{"text":"The weather?","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,30,30,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","fingerprint":"fd998d636b9b09485a97ac48828b8a90","tools":["notes","read","tool_search","weather"],"residency":{"notes":"deferred","read":"resident","tool_search":"resident","weather":"deferred"},"intent_revision":1,"registry_version":2,"type":"turn_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,31,31,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","step":1,"message_id":"m_01m8pveb8ryfb4gty8m7bp7jvr","parent_id":"m_01m8pveb870y9xw2q3ws79mc5s","model":"fake/model","resident":["bash","call_tool","read","tool_search"],"loaded":[],"deferred_count":2,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","call_tool","read","tool_search"],"masked":["bash"],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"bridge"},"reason":"unchanged","causes":[],"kept":14,"segments":[{"kind":"message","key":"m_01m8pveb7v3zvbsg7d94adwt0z","digest":"5aa7fb52345b0d2dd6e6bf98076692ba"},{"kind":"message","key":"m_01m8pveb870y9xw2q3ws79mc5s","digest":"81fcda42e4e81d7a51d460329b9453df"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,32,32,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","step":1,"message_id":"m_01m8pveb8ryfb4gty8m7bp7jvr","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,33,33,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb8ryfb4gty8m7bp7jvr","parent_id":"m_01m8pveb870y9xw2q3ws79mc5s","role":"assistant","blocks":[{"call_id":"c_3","name":"tool_search","arguments":{"query":"select:weather"},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,34,34,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","message_id":"m_01m8pveb8ryfb4gty8m7bp7jvr","call_id":"c_3","name":"tool_search","arguments":{"query":"select:weather"},"type":"tool_call_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,35,35,'2026-01-01T12:00:00.000Z',CAST('{"call_id":"c_3","status":"ok","result":{"call_id":"c_3","status":"ok","content":[{"text":"Loaded, ready from your next step: weather.\n{\"name\":\"weather\",\"description\":\"Does weather.\",\"parameters\":{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}}","type":"text"}],"display":{"found":[],"loaded":["weather"]},"duration_ms":1,"type":"tool_result"},"duration_ms":1,"discovered":["weather"],"type":"tool_call_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,36,36,'2026-01-01T12:00:00.000Z',CAST('{"loaded":["weather"],"added":["weather"],"type":"loaded_changed"}' AS BLOB));
INSERT INTO "events" VALUES(1,37,37,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb8s4x9wztwk1m04np79","parent_id":"m_01m8pveb8ryfb4gty8m7bp7jvr","role":"tool","blocks":[{"call_id":"c_3","status":"ok","content":[{"text":"Loaded, ready from your next step: weather.\n{\"name\":\"weather\",\"description\":\"Does weather.\",\"parameters\":{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}}","type":"text"}],"display":{"found":[],"loaded":["weather"]},"duration_ms":1,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,38,38,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","step":2,"message_id":"m_01m8pveb8tcvf37dxbvdy272qn","parent_id":"m_01m8pveb8s4x9wztwk1m04np79","model":"fake/model","resident":["bash","call_tool","read","tool_search"],"loaded":[],"deferred_count":2,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","call_tool","read","tool_search"],"masked":["bash"],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"bridge"},"reason":"unchanged","causes":[],"kept":16,"segments":[{"kind":"message","key":"m_01m8pveb8ryfb4gty8m7bp7jvr","digest":"1cebb0ae8ba1cf77a23ca549729eca63"},{"kind":"message","key":"m_01m8pveb8s4x9wztwk1m04np79","digest":"c889677827266dd81651fee8486e977f"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,39,39,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","step":2,"message_id":"m_01m8pveb8tcvf37dxbvdy272qn","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,40,40,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb8tcvf37dxbvdy272qn","parent_id":"m_01m8pveb8s4x9wztwk1m04np79","role":"assistant","blocks":[{"call_id":"c_4","name":"weather","arguments":{},"bridged":true,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,41,41,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","message_id":"m_01m8pveb8tcvf37dxbvdy272qn","call_id":"c_4","name":"weather","arguments":{},"type":"tool_call_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,42,42,'2026-01-01T12:00:00.000Z',CAST('{"call_id":"c_4","status":"ok","result":{"call_id":"c_4","status":"ok","content":[{"text":"weather is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"},"duration_ms":1,"discovered":[],"type":"tool_call_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,43,43,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb8v9p6p08p2gegw0f7x","parent_id":"m_01m8pveb8tcvf37dxbvdy272qn","role":"tool","blocks":[{"call_id":"c_4","status":"ok","content":[{"text":"weather is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,44,44,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","step":3,"message_id":"m_01m8pveb8wk822a6j9z3ks2501","parent_id":"m_01m8pveb8v9p6p08p2gegw0f7x","model":"fake/model","resident":["bash","call_tool","read","tool_search"],"loaded":[],"deferred_count":2,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","call_tool","read","tool_search"],"masked":["bash"],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"bridge"},"reason":"unchanged","causes":[],"kept":18,"segments":[{"kind":"message","key":"m_01m8pveb8tcvf37dxbvdy272qn","digest":"186e5b77b55f1ec4152b5fccd1e1eab9"},{"kind":"message","key":"m_01m8pveb8v9p6p08p2gegw0f7x","digest":"ea559e5784350912d4739c52e99ae794"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,45,45,'2026-01-01T12:00:00.000Z',CAST('{"message_id":"m_01m8pveb8wk822a6j9z3ks2501","block":0,"text":"Sunny.","type":"text_delta"}' AS BLOB));
INSERT INTO "events" VALUES(1,46,46,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","step":3,"message_id":"m_01m8pveb8wk822a6j9z3ks2501","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,47,47,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb8wk822a6j9z3ks2501","parent_id":"m_01m8pveb8v9p6p08p2gegw0f7x","role":"assistant","blocks":[{"text":"Sunny.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,48,48,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","reason":"done","error":null,"type":"turn_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,49,49,'2026-01-01T12:00:00.000Z',CAST('{"intent":{"enabled":null,"toolset":null,"web_search":null,"disabled":[],"picked":null,"allowed":null},"revision":2,"effective":{"web_search":{"state":"off","reason":null}},"type":"intent_changed"}' AS BLOB));
INSERT INTO "events" VALUES(1,50,50,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb9a42r70q5642x8qqp0","type":"turn_accepted"}' AS BLOB));
INSERT INTO "events" VALUES(1,51,51,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb9959z6c9gdbwr339j7","parent_id":"m_01m8pveb8wk822a6j9z3ks2501","role":"user","blocks":[{"text":"And now?","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,52,52,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb9a42r70q5642x8qqp0","fingerprint":"1559f27650582507c15ac045a2d152c8","tools":["bash","notes","read","tool_search","weather"],"residency":{"bash":"resident","notes":"deferred","read":"resident","tool_search":"resident","weather":"deferred"},"intent_revision":2,"registry_version":2,"type":"turn_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,53,53,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb9b49d7zygbc5qc8jjk","parent_id":"m_01m8pveb9959z6c9gdbwr339j7","role":"notice","blocks":[{"text":"Switched on again: bash.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb9a42r70q5642x8qqp0","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,54,54,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb9a42r70q5642x8qqp0","step":1,"message_id":"m_01m8pveb9b0gfamrn5gzyftyxw","parent_id":"m_01m8pveb9b49d7zygbc5qc8jjk","model":"fake/model","resident":["bash","call_tool","read","tool_search"],"loaded":[],"deferred_count":2,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","call_tool","read","tool_search"],"masked":[],"withdrawn":[],"restored":["bash"],"added":[],"predicted_loss":0,"strategy":"bridge"},"reason":"unchanged","causes":["restored:bash"],"kept":20,"segments":[{"kind":"message","key":"m_01m8pveb8wk822a6j9z3ks2501","digest":"f0ee07891d248eed444bb8ca3ba509c4"},{"kind":"message","key":"m_01m8pveb9959z6c9gdbwr339j7","digest":"38938792194bb1adcbc072e7e9b6f173"},{"kind":"message","key":"m_01m8pveb9b49d7zygbc5qc8jjk","digest":"bd03b4d87c39fe65a91749fab792e365"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,55,55,'2026-01-01T12:00:00.000Z',CAST('{"message_id":"m_01m8pveb9b0gfamrn5gzyftyxw","block":0,"text":"On again.","type":"text_delta"}' AS BLOB));
INSERT INTO "events" VALUES(1,56,56,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb9a42r70q5642x8qqp0","step":1,"message_id":"m_01m8pveb9b0gfamrn5gzyftyxw","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,57,57,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveb9b0gfamrn5gzyftyxw","parent_id":"m_01m8pveb9b49d7zygbc5qc8jjk","role":"assistant","blocks":[{"text":"On again.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb9a42r70q5642x8qqp0","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,58,58,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pveb9a42r70q5642x8qqp0","reason":"done","error":null,"type":"turn_finished"}' AS BLOB));
CREATE TABLE grants (
    n INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    tool TEXT NOT NULL,
    pattern TEXT NOT NULL, directory TEXT,
    UNIQUE (session_id, tool, pattern)
);
CREATE TABLE messages (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    parent_id TEXT,
    role TEXT NOT NULL,
    body BLOB NOT NULL
);
INSERT INTO "messages" VALUES(1,'m_01m8pveb7frf99cpdhyfpy43ap','s_01m8pveb7eeb5zgcjcravrmfhg',NULL,'user',CAST('{"id":"m_01m8pveb7frf99cpdhyfpy43ap","parent_id":null,"role":"user","blocks":[{"text":"Hello","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(2,'m_01m8pveb7j6vhzdzfgpm4nma1k','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb7frf99cpdhyfpy43ap','notice',CAST('{"id":"m_01m8pveb7j6vhzdzfgpm4nma1k","parent_id":"m_01m8pveb7frf99cpdhyfpy43ap","role":"notice","blocks":[{"text":"Today''s date is 2026-01-01.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb7g6m3gvx52erheegne","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(3,'m_01m8pveb7js6ejtcbjkprp36ws','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb7j6vhzdzfgpm4nma1k','assistant',CAST('{"id":"m_01m8pveb7js6ejtcbjkprp36ws","parent_id":"m_01m8pveb7j6vhzdzfgpm4nma1k","role":"assistant","blocks":[{"text":"A greeting.","signature":"c2lnbmVk","redacted":null,"duration_ms":null,"type":"reasoning"},{"text":"Hi.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb7g6m3gvx52erheegne","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(4,'m_01m8pveb7r741n4z0v3z3wdfyf','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb7js6ejtcbjkprp36ws','user',CAST('{"id":"m_01m8pveb7r741n4z0v3z3wdfyf","parent_id":"m_01m8pveb7js6ejtcbjkprp36ws","role":"user","blocks":[{"text":"Run it","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(5,'m_01m8pveb7s67r23hya7m4h72yr','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb7r741n4z0v3z3wdfyf','notice',CAST('{"id":"m_01m8pveb7s67r23hya7m4h72yr","parent_id":"m_01m8pveb7r741n4z0v3z3wdfyf","role":"notice","blocks":[{"text":"Switched off, calls will be refused: bash.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb7r1cmvqabcev897mmt","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(6,'m_01m8pveb7sawzyqgdrbgr71edm','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb7s67r23hya7m4h72yr','assistant',CAST('{"id":"m_01m8pveb7sawzyqgdrbgr71edm","parent_id":"m_01m8pveb7s67r23hya7m4h72yr","role":"assistant","blocks":[{"call_id":"c_1","name":"read","arguments":{},"bridged":false,"type":"tool_use"},{"call_id":"c_2","name":"bash","arguments":{},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb7r1cmvqabcev897mmt","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(7,'m_01m8pveb7t60n6a5gq50hgmm2x','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb7sawzyqgdrbgr71edm','tool',CAST('{"id":"m_01m8pveb7t60n6a5gq50hgmm2x","parent_id":"m_01m8pveb7sawzyqgdrbgr71edm","role":"tool","blocks":[{"call_id":"c_1","status":"ok","content":[{"text":"read is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"},{"call_id":"c_2","status":"denied","content":[{"text":"The tool bash is not available in this turn. Use one of the available tools, or answer without.","type":"text"}],"display":null,"duration_ms":0,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb7r1cmvqabcev897mmt","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(8,'m_01m8pveb7v3zvbsg7d94adwt0z','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb7t60n6a5gq50hgmm2x','assistant',CAST('{"id":"m_01m8pveb7v3zvbsg7d94adwt0z","parent_id":"m_01m8pveb7t60n6a5gq50hgmm2x","role":"assistant","blocks":[{"text":"It is off.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb7r1cmvqabcev897mmt","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(9,'m_01m8pveb870y9xw2q3ws79mc5s','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb7v3zvbsg7d94adwt0z','user',CAST('{"id":"m_01m8pveb870y9xw2q3ws79mc5s","parent_id":"m_01m8pveb7v3zvbsg7d94adwt0z","role":"user","blocks":[{"text":"The weather?","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(10,'m_01m8pveb8ryfb4gty8m7bp7jvr','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb870y9xw2q3ws79mc5s','assistant',CAST('{"id":"m_01m8pveb8ryfb4gty8m7bp7jvr","parent_id":"m_01m8pveb870y9xw2q3ws79mc5s","role":"assistant","blocks":[{"call_id":"c_3","name":"tool_search","arguments":{"query":"select:weather"},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(11,'m_01m8pveb8s4x9wztwk1m04np79','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb8ryfb4gty8m7bp7jvr','tool',CAST('{"id":"m_01m8pveb8s4x9wztwk1m04np79","parent_id":"m_01m8pveb8ryfb4gty8m7bp7jvr","role":"tool","blocks":[{"call_id":"c_3","status":"ok","content":[{"text":"Loaded, ready from your next step: weather.\n{\"name\":\"weather\",\"description\":\"Does weather.\",\"parameters\":{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}}","type":"text"}],"display":{"found":[],"loaded":["weather"]},"duration_ms":1,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(12,'m_01m8pveb8tcvf37dxbvdy272qn','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb8s4x9wztwk1m04np79','assistant',CAST('{"id":"m_01m8pveb8tcvf37dxbvdy272qn","parent_id":"m_01m8pveb8s4x9wztwk1m04np79","role":"assistant","blocks":[{"call_id":"c_4","name":"weather","arguments":{},"bridged":true,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(13,'m_01m8pveb8v9p6p08p2gegw0f7x','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb8tcvf37dxbvdy272qn','tool',CAST('{"id":"m_01m8pveb8v9p6p08p2gegw0f7x","parent_id":"m_01m8pveb8tcvf37dxbvdy272qn","role":"tool","blocks":[{"call_id":"c_4","status":"ok","content":[{"text":"weather is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(14,'m_01m8pveb8wk822a6j9z3ks2501','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb8v9p6p08p2gegw0f7x','assistant',CAST('{"id":"m_01m8pveb8wk822a6j9z3ks2501","parent_id":"m_01m8pveb8v9p6p08p2gegw0f7x","role":"assistant","blocks":[{"text":"Sunny.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(15,'m_01m8pveb9959z6c9gdbwr339j7','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb8wk822a6j9z3ks2501','user',CAST('{"id":"m_01m8pveb9959z6c9gdbwr339j7","parent_id":"m_01m8pveb8wk822a6j9z3ks2501","role":"user","blocks":[{"text":"And now?","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(16,'m_01m8pveb9b49d7zygbc5qc8jjk','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb9959z6c9gdbwr339j7','notice',CAST('{"id":"m_01m8pveb9b49d7zygbc5qc8jjk","parent_id":"m_01m8pveb9959z6c9gdbwr339j7","role":"notice","blocks":[{"text":"Switched on again: bash.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb9a42r70q5642x8qqp0","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(17,'m_01m8pveb9b0gfamrn5gzyftyxw','s_01m8pveb7eeb5zgcjcravrmfhg','m_01m8pveb9b49d7zygbc5qc8jjk','assistant',CAST('{"id":"m_01m8pveb9b0gfamrn5gzyftyxw","parent_id":"m_01m8pveb9b49d7zygbc5qc8jjk","role":"assistant","blocks":[{"text":"On again.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pveb9a42r70q5642x8qqp0","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "migrations" VALUES(1,'first tables','2026-01-01T12:00:00.000Z');
INSERT INTO "migrations" VALUES(2,'loaded tools','2026-01-01T12:00:00.000Z');
INSERT INTO "migrations" VALUES(3,'what a reload shows','2026-01-01T12:00:00.000Z');
INSERT INTO "migrations" VALUES(4,'questions','2026-01-01T12:00:00.000Z');
INSERT INTO "migrations" VALUES(5,'events by the chat''s number','2026-01-01T12:00:00.000Z');
INSERT INTO "migrations" VALUES(6,'directories of grants','2026-01-01T12:00:00.000Z');
CREATE TABLE questions (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    asked BLOB NOT NULL,
    pending INTEGER NOT NULL,
    answer BLOB
);
CREATE TABLE queue (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (session_id, position)
);
CREATE TABLE requests (
    user_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    ack BLOB NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (user_id, client_id)
);
INSERT INTO "requests" VALUES('u_ada','client_55','13bca7b11187f09d9793d916df680974',CAST('{"type":"ack","id":"client_55","session_id":"s_01m8pveb7eeb5zgcjcravrmfhg","message_id":"m_01m8pveb7frf99cpdhyfpy43ap","queued":false}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_56','d43d4680cfe4a5c54f23d7aff14c4232',CAST('{"type":"ack","id":"client_56","session_id":"s_01m8pveb7eeb5zgcjcravrmfhg","revision":1,"applies":"now"}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_57','e831cfe801120be1245868aa6cc36461',CAST('{"type":"ack","id":"client_57","session_id":"s_01m8pveb7eeb5zgcjcravrmfhg","message_id":"m_01m8pveb7r741n4z0v3z3wdfyf","queued":false}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_58','695b94005a62315e95dd7a2af3696d89',CAST('{"type":"ack","id":"client_58","session_id":"s_01m8pveb7eeb5zgcjcravrmfhg","message_id":"m_01m8pveb870y9xw2q3ws79mc5s","queued":false}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_59','f350fb65ee91c2fc8fbc4692bc500860',CAST('{"type":"ack","id":"client_59","session_id":"s_01m8pveb7eeb5zgcjcravrmfhg","revision":2,"applies":"now"}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_60','4c30d786c3165f8cdbe151c34c4eb6d8',CAST('{"type":"ack","id":"client_60","session_id":"s_01m8pveb7eeb5zgcjcravrmfhg","message_id":"m_01m8pveb9959z6c9gdbwr339j7","queued":false}' AS BLOB),'2026-01-01T12:00:00.000Z');
CREATE TABLE session_config (
    session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    enabled INTEGER,
    toolset TEXT,
    web_search INTEGER,
    disabled TEXT,
    picked TEXT,
    allowed TEXT,
    revision INTEGER NOT NULL
);
INSERT INTO "session_config" VALUES('s_01m8pveb7eeb5zgcjcravrmfhg',NULL,NULL,NULL,'[]',NULL,NULL,2);
CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    visible INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    model TEXT,
    permission_mode TEXT NOT NULL,
    workspace TEXT,
    leaf_id TEXT,
    turn_id TEXT,
    turn_seq INTEGER,
    surface BLOB
, loaded TEXT, outcome BLOB, outcome_at TEXT, notes BLOB, n INTEGER);
INSERT INTO "sessions" VALUES('s_01m8pveb7eeb5zgcjcravrmfhg','u_ada','Hello','2026-01-01T12:00:00.000Z','2026-01-01T12:00:00.000Z',1,0,0,NULL,'auto',NULL,'m_01m8pveb9b0gfamrn5gzyftyxw',NULL,NULL,CAST('{"model":"fake/model","epoch":1,"declared":[{"name":"bash","description":"Does bash.","parameters":{"type":"object","properties":{},"additionalProperties":false}},{"name":"call_tool","description":"Call a tool that was loaded and is not declared itself. Its schema stands where it was loaded.","parameters":{"type":"object","properties":{"name":{"type":"string","description":"Name of the loaded tool"},"arguments":{"type":"object","description":"Its arguments, as its schema has them"}},"required":["name","arguments"],"additionalProperties":false}},{"name":"read","description":"Does read.","parameters":{"type":"object","properties":{},"additionalProperties":false}},{"name":"tool_search","description":"Find tools that are not loaded yet, with their schemas. Load what you need by name; it can be called in your next step.","parameters":{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, in plain words; or select:NAME,NAME to load"}},"required":["query"],"additionalProperties":false}}],"masked":[],"system_digest":"22da7b0df18574a2847676e562bda20f","last_request_at":1767268800.0,"catalog":"Tools that can be loaded (query tool_search to find one, or select:NAME to load it):\nnotes\nweather","strategy":"bridge","deferred":[],"deltas":[],"shown":"m_01m8pveb9b49d7zygbc5qc8jjk","thinking_after":null}' AS BLOB),'["weather"]',CAST('{"turn_id":"t_01m8pveb9a42r70q5642x8qqp0","reason":"done","error":null,"type":"turn_finished"}' AS BLOB),'2026-01-01T12:00:00.000Z',NULL,1);
CREATE TABLE settings (
    user_id TEXT NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (user_id, key)
);
CREATE TABLE token_counts (
    digest TEXT NOT NULL PRIMARY KEY,
    tokens INTEGER NOT NULL
);
INSERT INTO "token_counts" VALUES('7fcd9f40e923e62a4efe5be0794e30de',21);
INSERT INTO "token_counts" VALUES('7f2899874b54240c9710dcfc7392d4a0',2);
INSERT INTO "token_counts" VALUES('444e0fffbd825e9610ff5b199485707a',2);
INSERT INTO "token_counts" VALUES('15fd60c6f5c6804626177d178f3dba84',2);
INSERT INTO "token_counts" VALUES('a01982c88156a167f5cb2547acb5ea86',3);
INSERT INTO "token_counts" VALUES('dad6d72b588a76b4ab1f42eaef4ad76a',2);
CREATE TABLE usage (
    n INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn_id TEXT NOT NULL,
    step INTEGER NOT NULL,
    at TEXT NOT NULL,
    model TEXT NOT NULL,
    uncached INTEGER,
    cache_read INTEGER,
    cache_write_5m INTEGER,
    cache_write_1h INTEGER,
    output INTEGER,
    reasoning INTEGER,
    cost REAL, message_id TEXT, finished BLOB,
    UNIQUE (session_id, turn_id, step)
);
INSERT INTO "usage" VALUES(1,'s_01m8pveb7eeb5zgcjcravrmfhg','t_01m8pveb7g6m3gvx52erheegne',1,'2026-01-01T12:00:00.000Z','fake/model',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'m_01m8pveb7js6ejtcbjkprp36ws',CAST('{"turn_id":"t_01m8pveb7g6m3gvx52erheegne","step":1,"message_id":"m_01m8pveb7js6ejtcbjkprp36ws","model":"fake/model","usage":{"uncached":null,"cache_read":null,"cache_write_5m":null,"cache_write_1h":null,"output":null,"reasoning":null},"cost":null,"cache":{"read":null,"missed":null,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(2,'s_01m8pveb7eeb5zgcjcravrmfhg','t_01m8pveb7r1cmvqabcev897mmt',1,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pveb7sawzyqgdrbgr71edm',CAST('{"turn_id":"t_01m8pveb7r1cmvqabcev897mmt","step":1,"message_id":"m_01m8pveb7sawzyqgdrbgr71edm","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":null,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(3,'s_01m8pveb7eeb5zgcjcravrmfhg','t_01m8pveb7r1cmvqabcev897mmt',2,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pveb7v3zvbsg7d94adwt0z',CAST('{"turn_id":"t_01m8pveb7r1cmvqabcev897mmt","step":2,"message_id":"m_01m8pveb7v3zvbsg7d94adwt0z","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(4,'s_01m8pveb7eeb5zgcjcravrmfhg','t_01m8pveb88grdwvv93rmp8mpmx',1,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pveb8ryfb4gty8m7bp7jvr',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","step":1,"message_id":"m_01m8pveb8ryfb4gty8m7bp7jvr","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(5,'s_01m8pveb7eeb5zgcjcravrmfhg','t_01m8pveb88grdwvv93rmp8mpmx',2,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pveb8tcvf37dxbvdy272qn',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","step":2,"message_id":"m_01m8pveb8tcvf37dxbvdy272qn","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(6,'s_01m8pveb7eeb5zgcjcravrmfhg','t_01m8pveb88grdwvv93rmp8mpmx',3,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pveb8wk822a6j9z3ks2501',CAST('{"turn_id":"t_01m8pveb88grdwvv93rmp8mpmx","step":3,"message_id":"m_01m8pveb8wk822a6j9z3ks2501","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(7,'s_01m8pveb7eeb5zgcjcravrmfhg','t_01m8pveb9a42r70q5642x8qqp0',1,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pveb9b0gfamrn5gzyftyxw',CAST('{"turn_id":"t_01m8pveb9a42r70q5642x8qqp0","step":1,"message_id":"m_01m8pveb9b0gfamrn5gzyftyxw","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
CREATE INDEX sessions_of_user ON sessions (user_id, updated_at, id);
CREATE INDEX sessions_in_turn ON sessions (id) WHERE turn_id IS NOT NULL;
CREATE INDEX sessions_drafted ON sessions (updated_at) WHERE visible = 0;
CREATE INDEX messages_of_session ON messages (session_id);
CREATE INDEX approvals_of_session ON approvals (session_id, pending);
CREATE INDEX requests_by_age ON requests (at);
CREATE INDEX questions_of_session ON questions (session_id, pending);
CREATE UNIQUE INDEX sessions_by_number ON sessions (n);
COMMIT;
PRAGMA user_version = 0;
