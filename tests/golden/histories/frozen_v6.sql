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
INSERT INTO "events" VALUES(1,1,1,'2026-01-01T12:00:00.000Z',CAST('{"session":{"id":"s_01m8pvebe9p34hm4hn1t5g0x6f","title":"Hello","created_at":"2026-01-01T12:00:00.000Z","updated_at":"2026-01-01T12:00:00.000Z","visible":true,"pinned":false,"deleted":false,"status":"idle","model":null,"permission_mode":"auto","workspace":null,"leaf_id":null},"type":"session_changed"}' AS BLOB));
INSERT INTO "events" VALUES(1,2,2,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebeap81nkmv43684qe0e","type":"turn_accepted"}' AS BLOB));
INSERT INTO "events" VALUES(1,3,3,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebeahmrsybdwbw4jh5p2","parent_id":null,"role":"user","blocks":[{"text":"Hello","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,4,4,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebeap81nkmv43684qe0e","fingerprint":"1559f27650582507c15ac045a2d152c8","tools":["bash","notes","read","tool_search","weather"],"residency":{"bash":"resident","notes":"deferred","read":"resident","tool_search":"resident","weather":"deferred"},"intent_revision":0,"registry_version":2,"type":"turn_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,5,5,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebedqyh5nwvz1z74nv71","parent_id":"m_01m8pvebeahmrsybdwbw4jh5p2","role":"notice","blocks":[{"text":"Today''s date is 2026-01-01.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebeap81nkmv43684qe0e","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,6,6,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebeap81nkmv43684qe0e","step":1,"message_id":"m_01m8pvebedfbx4f2epamt6cy0v","parent_id":"m_01m8pvebedqyh5nwvz1z74nv71","model":"fake/model","resident":["bash","notes","read","tool_search","weather"],"loaded":[],"deferred_count":0,"plan":{"kind":"rebase","reason":"first_request","epoch":1,"declared":["bash","notes","read","tool_search","weather"],"masked":[],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"frozen"},"reason":"first_request","causes":[],"kept":0,"segments":[{"kind":"tool","key":"bash","digest":"b653b3dbcc069c649f0c5d7ef6ea5b63"},{"kind":"tool","key":"notes","digest":"e90c64a0ec3bdec4642f0eed7c5a4f2d"},{"kind":"tool","key":"read","digest":"c1aa9d475ae500c20835ed0cc79c06ae"},{"kind":"tool","key":"tool_search","digest":"f175b8bdec41f301950e203b856040d1"},{"kind":"tool","key":"weather","digest":"ebb801be6a181d356f5f0e65215c2151"},{"kind":"system","key":"0","digest":"826b9ed874ba1b7b0623f4483c29f82c"},{"kind":"system","key":"1","digest":"4afd7dccc5a1fc49612e1e2d777f6219"},{"kind":"message","key":"m_01m8pvebeahmrsybdwbw4jh5p2","digest":"9703b042c7de28ca299256c2110de8c7"},{"kind":"message","key":"m_01m8pvebedqyh5nwvz1z74nv71","digest":"2b25d704f940f53b84afbf4352769a33"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,7,7,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebeap81nkmv43684qe0e","step":1,"message_id":"m_01m8pvebedfbx4f2epamt6cy0v","model":"fake/model","usage":{"uncached":null,"cache_read":null,"cache_write_5m":null,"cache_write_1h":null,"output":null,"reasoning":null},"cost":null,"cache":{"read":null,"missed":null,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,8,8,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebedfbx4f2epamt6cy0v","parent_id":"m_01m8pvebedqyh5nwvz1z74nv71","role":"assistant","blocks":[{"text":"A greeting.","signature":"c2lnbmVk","redacted":null,"duration_ms":null,"type":"reasoning"},{"text":"Hi.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebeap81nkmv43684qe0e","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,9,9,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebeap81nkmv43684qe0e","reason":"done","error":null,"type":"turn_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,10,10,'2026-01-01T12:00:00.000Z',CAST('{"intent":{"enabled":null,"toolset":null,"web_search":null,"disabled":["bash"],"picked":null,"allowed":null},"revision":1,"effective":{"web_search":{"state":"off","reason":null}},"type":"intent_changed"}' AS BLOB));
INSERT INTO "events" VALUES(1,11,11,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","type":"turn_accepted"}' AS BLOB));
INSERT INTO "events" VALUES(1,12,12,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebejh16d5xkx7058z811","parent_id":"m_01m8pvebedfbx4f2epamt6cy0v","role":"user","blocks":[{"text":"Run it","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,13,13,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","fingerprint":"fd998d636b9b09485a97ac48828b8a90","tools":["notes","read","tool_search","weather"],"residency":{"notes":"deferred","read":"resident","tool_search":"resident","weather":"deferred"},"intent_revision":1,"registry_version":2,"type":"turn_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,14,14,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebempk0heh2nckvbz553","parent_id":"m_01m8pvebejh16d5xkx7058z811","role":"notice","blocks":[{"text":"Switched off, calls will be refused: bash.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,15,15,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","step":1,"message_id":"m_01m8pvebemajyjqrqcn5wpm4a8","parent_id":"m_01m8pvebempk0heh2nckvbz553","model":"fake/model","resident":["bash","notes","read","tool_search","weather"],"loaded":[],"deferred_count":0,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","notes","read","tool_search","weather"],"masked":["bash"],"withdrawn":["bash"],"restored":[],"added":[],"predicted_loss":0,"strategy":"frozen"},"reason":"unchanged","causes":["withdrawn:bash"],"kept":9,"segments":[{"kind":"message","key":"m_01m8pvebedfbx4f2epamt6cy0v","digest":"de35fe34b2d459cc56114fc08aae8908"},{"kind":"message","key":"m_01m8pvebejh16d5xkx7058z811","digest":"757fc4149af031827ea93d3d517010f3"},{"kind":"message","key":"m_01m8pvebempk0heh2nckvbz553","digest":"0b0d7b32f8047eb35cd97774e96a0a4b"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,16,16,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","step":1,"message_id":"m_01m8pvebemajyjqrqcn5wpm4a8","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":null,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,17,17,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebemajyjqrqcn5wpm4a8","parent_id":"m_01m8pvebempk0heh2nckvbz553","role":"assistant","blocks":[{"call_id":"c_1","name":"read","arguments":{},"bridged":false,"type":"tool_use"},{"call_id":"c_2","name":"bash","arguments":{},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,18,18,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","message_id":"m_01m8pvebemajyjqrqcn5wpm4a8","call_id":"c_1","name":"read","arguments":{},"type":"tool_call_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,19,19,'2026-01-01T12:00:00.000Z',CAST('{"call_id":"c_1","status":"ok","result":{"call_id":"c_1","status":"ok","content":[{"text":"read is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"},"duration_ms":1,"discovered":[],"type":"tool_call_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,20,20,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","message_id":"m_01m8pvebemajyjqrqcn5wpm4a8","call_id":"c_2","name":"bash","arguments":{},"type":"tool_call_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,21,21,'2026-01-01T12:00:00.000Z',CAST('{"call_id":"c_2","status":"denied","result":{"call_id":"c_2","status":"denied","content":[{"text":"The tool bash is not available in this turn. Use one of the available tools, or answer without.","type":"text"}],"display":null,"duration_ms":0,"type":"tool_result"},"duration_ms":0,"discovered":[],"type":"tool_call_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,22,22,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebenekmjj1wz4sycymhs","parent_id":"m_01m8pvebemajyjqrqcn5wpm4a8","role":"tool","blocks":[{"call_id":"c_1","status":"ok","content":[{"text":"read is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"},{"call_id":"c_2","status":"denied","content":[{"text":"The tool bash is not available in this turn. Use one of the available tools, or answer without.","type":"text"}],"display":null,"duration_ms":0,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,23,23,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","step":2,"message_id":"m_01m8pveberk286tcrx23yc1jsg","parent_id":"m_01m8pvebenekmjj1wz4sycymhs","model":"fake/model","resident":["bash","notes","read","tool_search","weather"],"loaded":[],"deferred_count":0,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","notes","read","tool_search","weather"],"masked":["bash"],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"frozen"},"reason":"unchanged","causes":[],"kept":12,"segments":[{"kind":"message","key":"m_01m8pvebemajyjqrqcn5wpm4a8","digest":"ac442358cab8b53400d25a9a583cb798"},{"kind":"message","key":"m_01m8pvebenekmjj1wz4sycymhs","digest":"03456ad690dbdb97d59061c451cff143"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,24,24,'2026-01-01T12:00:00.000Z',CAST('{"message_id":"m_01m8pveberk286tcrx23yc1jsg","block":0,"text":"It is off.","type":"text_delta"}' AS BLOB));
INSERT INTO "events" VALUES(1,25,25,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","step":2,"message_id":"m_01m8pveberk286tcrx23yc1jsg","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,26,26,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pveberk286tcrx23yc1jsg","parent_id":"m_01m8pvebenekmjj1wz4sycymhs","role":"assistant","blocks":[{"text":"It is off.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,27,27,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","reason":"done","error":null,"type":"turn_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,28,28,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","type":"turn_accepted"}' AS BLOB));
INSERT INTO "events" VALUES(1,29,29,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebf1zv2h39z0308cvbej","parent_id":"m_01m8pveberk286tcrx23yc1jsg","role":"user","blocks":[{"text":"The weather?","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,30,30,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","fingerprint":"fd998d636b9b09485a97ac48828b8a90","tools":["notes","read","tool_search","weather"],"residency":{"notes":"deferred","read":"resident","tool_search":"resident","weather":"deferred"},"intent_revision":1,"registry_version":2,"type":"turn_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,31,31,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","step":1,"message_id":"m_01m8pvebf28j794f6ps9bgzhtq","parent_id":"m_01m8pvebf1zv2h39z0308cvbej","model":"fake/model","resident":["bash","notes","read","tool_search","weather"],"loaded":[],"deferred_count":0,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","notes","read","tool_search","weather"],"masked":["bash"],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"frozen"},"reason":"unchanged","causes":[],"kept":14,"segments":[{"kind":"message","key":"m_01m8pveberk286tcrx23yc1jsg","digest":"5aa7fb52345b0d2dd6e6bf98076692ba"},{"kind":"message","key":"m_01m8pvebf1zv2h39z0308cvbej","digest":"81fcda42e4e81d7a51d460329b9453df"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,32,32,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","step":1,"message_id":"m_01m8pvebf28j794f6ps9bgzhtq","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,33,33,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebf28j794f6ps9bgzhtq","parent_id":"m_01m8pvebf1zv2h39z0308cvbej","role":"assistant","blocks":[{"call_id":"c_3","name":"tool_search","arguments":{"query":"select:weather"},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,34,34,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","message_id":"m_01m8pvebf28j794f6ps9bgzhtq","call_id":"c_3","name":"tool_search","arguments":{"query":"select:weather"},"type":"tool_call_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,35,35,'2026-01-01T12:00:00.000Z',CAST('{"call_id":"c_3","status":"ok","result":{"call_id":"c_3","status":"ok","content":[{"text":"Ready already: weather.","type":"text"}],"display":{"found":[],"loaded":[]},"duration_ms":1,"type":"tool_result"},"duration_ms":1,"discovered":[],"type":"tool_call_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,36,36,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebf3bk3nb87dcv22njt7","parent_id":"m_01m8pvebf28j794f6ps9bgzhtq","role":"tool","blocks":[{"call_id":"c_3","status":"ok","content":[{"text":"Ready already: weather.","type":"text"}],"display":{"found":[],"loaded":[]},"duration_ms":1,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,37,37,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","step":2,"message_id":"m_01m8pvebf83k8sbv6sxb1eg9hh","parent_id":"m_01m8pvebf3bk3nb87dcv22njt7","model":"fake/model","resident":["bash","notes","read","tool_search","weather"],"loaded":[],"deferred_count":0,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","notes","read","tool_search","weather"],"masked":["bash"],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"frozen"},"reason":"unchanged","causes":[],"kept":16,"segments":[{"kind":"message","key":"m_01m8pvebf28j794f6ps9bgzhtq","digest":"1cebb0ae8ba1cf77a23ca549729eca63"},{"kind":"message","key":"m_01m8pvebf3bk3nb87dcv22njt7","digest":"41ca63824afafc218191941ce6a22623"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,38,38,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","step":2,"message_id":"m_01m8pvebf83k8sbv6sxb1eg9hh","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,39,39,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebf83k8sbv6sxb1eg9hh","parent_id":"m_01m8pvebf3bk3nb87dcv22njt7","role":"assistant","blocks":[{"call_id":"c_4","name":"weather","arguments":{},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,40,40,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","message_id":"m_01m8pvebf83k8sbv6sxb1eg9hh","call_id":"c_4","name":"weather","arguments":{},"type":"tool_call_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,41,41,'2026-01-01T12:00:00.000Z',CAST('{"call_id":"c_4","status":"ok","result":{"call_id":"c_4","status":"ok","content":[{"text":"weather is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"},"duration_ms":1,"discovered":[],"type":"tool_call_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,42,42,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebf95adx9k5862287mc2","parent_id":"m_01m8pvebf83k8sbv6sxb1eg9hh","role":"tool","blocks":[{"call_id":"c_4","status":"ok","content":[{"text":"weather is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,43,43,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","step":3,"message_id":"m_01m8pvebfe3d4yny2vqpks0ykb","parent_id":"m_01m8pvebf95adx9k5862287mc2","model":"fake/model","resident":["bash","notes","read","tool_search","weather"],"loaded":[],"deferred_count":0,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","notes","read","tool_search","weather"],"masked":["bash"],"withdrawn":[],"restored":[],"added":[],"predicted_loss":0,"strategy":"frozen"},"reason":"unchanged","causes":[],"kept":18,"segments":[{"kind":"message","key":"m_01m8pvebf83k8sbv6sxb1eg9hh","digest":"14124a2a1e425bd236d2a5d7c8b6da95"},{"kind":"message","key":"m_01m8pvebf95adx9k5862287mc2","digest":"ea559e5784350912d4739c52e99ae794"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,44,44,'2026-01-01T12:00:00.000Z',CAST('{"message_id":"m_01m8pvebfe3d4yny2vqpks0ykb","block":0,"text":"Sunny.","type":"text_delta"}' AS BLOB));
INSERT INTO "events" VALUES(1,45,45,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","step":3,"message_id":"m_01m8pvebfe3d4yny2vqpks0ykb","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,46,46,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebfe3d4yny2vqpks0ykb","parent_id":"m_01m8pvebf95adx9k5862287mc2","role":"assistant","blocks":[{"text":"Sunny.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,47,47,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","reason":"done","error":null,"type":"turn_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,48,48,'2026-01-01T12:00:00.000Z',CAST('{"intent":{"enabled":null,"toolset":null,"web_search":null,"disabled":[],"picked":null,"allowed":null},"revision":2,"effective":{"web_search":{"state":"off","reason":null}},"type":"intent_changed"}' AS BLOB));
INSERT INTO "events" VALUES(1,49,49,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebfymf09b20hrxkbe47z","type":"turn_accepted"}' AS BLOB));
INSERT INTO "events" VALUES(1,50,50,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebfxxg50300g0wr9xwk8","parent_id":"m_01m8pvebfe3d4yny2vqpks0ykb","role":"user","blocks":[{"text":"And now?","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,51,51,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebfymf09b20hrxkbe47z","fingerprint":"1559f27650582507c15ac045a2d152c8","tools":["bash","notes","read","tool_search","weather"],"residency":{"bash":"resident","notes":"deferred","read":"resident","tool_search":"resident","weather":"deferred"},"intent_revision":2,"registry_version":2,"type":"turn_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,52,52,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebfz56nrgs3sqghdbsp0","parent_id":"m_01m8pvebfxxg50300g0wr9xwk8","role":"notice","blocks":[{"text":"Switched on again: bash.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebfymf09b20hrxkbe47z","status":"complete","model":null,"override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,53,53,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebfymf09b20hrxkbe47z","step":1,"message_id":"m_01m8pvebfzh7ahzr4cd9k7cqgn","parent_id":"m_01m8pvebfz56nrgs3sqghdbsp0","model":"fake/model","resident":["bash","notes","read","tool_search","weather"],"loaded":[],"deferred_count":0,"plan":{"kind":"keep","reason":"unchanged","epoch":1,"declared":["bash","notes","read","tool_search","weather"],"masked":[],"withdrawn":[],"restored":["bash"],"added":[],"predicted_loss":0,"strategy":"frozen"},"reason":"unchanged","causes":["restored:bash"],"kept":20,"segments":[{"kind":"message","key":"m_01m8pvebfe3d4yny2vqpks0ykb","digest":"f0ee07891d248eed444bb8ca3ba509c4"},{"kind":"message","key":"m_01m8pvebfxxg50300g0wr9xwk8","digest":"38938792194bb1adcbc072e7e9b6f173"},{"kind":"message","key":"m_01m8pvebfz56nrgs3sqghdbsp0","digest":"bd03b4d87c39fe65a91749fab792e365"}],"type":"step_started"}' AS BLOB));
INSERT INTO "events" VALUES(1,54,54,'2026-01-01T12:00:00.000Z',CAST('{"message_id":"m_01m8pvebfzh7ahzr4cd9k7cqgn","block":0,"text":"On again.","type":"text_delta"}' AS BLOB));
INSERT INTO "events" VALUES(1,55,55,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebfymf09b20hrxkbe47z","step":1,"message_id":"m_01m8pvebfzh7ahzr4cd9k7cqgn","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "events" VALUES(1,56,56,'2026-01-01T12:00:00.000Z',CAST('{"message":{"id":"m_01m8pvebfzh7ahzr4cd9k7cqgn","parent_id":"m_01m8pvebfz56nrgs3sqghdbsp0","role":"assistant","blocks":[{"text":"On again.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebfymf09b20hrxkbe47z","status":"complete","model":"fake/model","override":null,"sender":null},"type":"message_added"}' AS BLOB));
INSERT INTO "events" VALUES(1,57,57,'2026-01-01T12:00:00.000Z',CAST('{"turn_id":"t_01m8pvebfymf09b20hrxkbe47z","reason":"done","error":null,"type":"turn_finished"}' AS BLOB));
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
INSERT INTO "messages" VALUES(1,'m_01m8pvebeahmrsybdwbw4jh5p2','s_01m8pvebe9p34hm4hn1t5g0x6f',NULL,'user',CAST('{"id":"m_01m8pvebeahmrsybdwbw4jh5p2","parent_id":null,"role":"user","blocks":[{"text":"Hello","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(2,'m_01m8pvebedqyh5nwvz1z74nv71','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebeahmrsybdwbw4jh5p2','notice',CAST('{"id":"m_01m8pvebedqyh5nwvz1z74nv71","parent_id":"m_01m8pvebeahmrsybdwbw4jh5p2","role":"notice","blocks":[{"text":"Today''s date is 2026-01-01.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebeap81nkmv43684qe0e","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(3,'m_01m8pvebedfbx4f2epamt6cy0v','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebedqyh5nwvz1z74nv71','assistant',CAST('{"id":"m_01m8pvebedfbx4f2epamt6cy0v","parent_id":"m_01m8pvebedqyh5nwvz1z74nv71","role":"assistant","blocks":[{"text":"A greeting.","signature":"c2lnbmVk","redacted":null,"duration_ms":null,"type":"reasoning"},{"text":"Hi.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebeap81nkmv43684qe0e","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(4,'m_01m8pvebejh16d5xkx7058z811','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebedfbx4f2epamt6cy0v','user',CAST('{"id":"m_01m8pvebejh16d5xkx7058z811","parent_id":"m_01m8pvebedfbx4f2epamt6cy0v","role":"user","blocks":[{"text":"Run it","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(5,'m_01m8pvebempk0heh2nckvbz553','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebejh16d5xkx7058z811','notice',CAST('{"id":"m_01m8pvebempk0heh2nckvbz553","parent_id":"m_01m8pvebejh16d5xkx7058z811","role":"notice","blocks":[{"text":"Switched off, calls will be refused: bash.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(6,'m_01m8pvebemajyjqrqcn5wpm4a8','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebempk0heh2nckvbz553','assistant',CAST('{"id":"m_01m8pvebemajyjqrqcn5wpm4a8","parent_id":"m_01m8pvebempk0heh2nckvbz553","role":"assistant","blocks":[{"call_id":"c_1","name":"read","arguments":{},"bridged":false,"type":"tool_use"},{"call_id":"c_2","name":"bash","arguments":{},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(7,'m_01m8pvebenekmjj1wz4sycymhs','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebemajyjqrqcn5wpm4a8','tool',CAST('{"id":"m_01m8pvebenekmjj1wz4sycymhs","parent_id":"m_01m8pvebemajyjqrqcn5wpm4a8","role":"tool","blocks":[{"call_id":"c_1","status":"ok","content":[{"text":"read is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"},{"call_id":"c_2","status":"denied","content":[{"text":"The tool bash is not available in this turn. Use one of the available tools, or answer without.","type":"text"}],"display":null,"duration_ms":0,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(8,'m_01m8pveberk286tcrx23yc1jsg','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebenekmjj1wz4sycymhs','assistant',CAST('{"id":"m_01m8pveberk286tcrx23yc1jsg","parent_id":"m_01m8pvebenekmjj1wz4sycymhs","role":"assistant","blocks":[{"text":"It is off.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(9,'m_01m8pvebf1zv2h39z0308cvbej','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pveberk286tcrx23yc1jsg','user',CAST('{"id":"m_01m8pvebf1zv2h39z0308cvbej","parent_id":"m_01m8pveberk286tcrx23yc1jsg","role":"user","blocks":[{"text":"The weather?","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(10,'m_01m8pvebf28j794f6ps9bgzhtq','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebf1zv2h39z0308cvbej','assistant',CAST('{"id":"m_01m8pvebf28j794f6ps9bgzhtq","parent_id":"m_01m8pvebf1zv2h39z0308cvbej","role":"assistant","blocks":[{"call_id":"c_3","name":"tool_search","arguments":{"query":"select:weather"},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(11,'m_01m8pvebf3bk3nb87dcv22njt7','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebf28j794f6ps9bgzhtq','tool',CAST('{"id":"m_01m8pvebf3bk3nb87dcv22njt7","parent_id":"m_01m8pvebf28j794f6ps9bgzhtq","role":"tool","blocks":[{"call_id":"c_3","status":"ok","content":[{"text":"Ready already: weather.","type":"text"}],"display":{"found":[],"loaded":[]},"duration_ms":1,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(12,'m_01m8pvebf83k8sbv6sxb1eg9hh','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebf3bk3nb87dcv22njt7','assistant',CAST('{"id":"m_01m8pvebf83k8sbv6sxb1eg9hh","parent_id":"m_01m8pvebf3bk3nb87dcv22njt7","role":"assistant","blocks":[{"call_id":"c_4","name":"weather","arguments":{},"bridged":false,"type":"tool_use"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(13,'m_01m8pvebf95adx9k5862287mc2','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebf83k8sbv6sxb1eg9hh','tool',CAST('{"id":"m_01m8pvebf95adx9k5862287mc2","parent_id":"m_01m8pvebf83k8sbv6sxb1eg9hh","role":"tool","blocks":[{"call_id":"c_4","status":"ok","content":[{"text":"weather is done","type":"text"}],"display":null,"duration_ms":1,"type":"tool_result"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(14,'m_01m8pvebfe3d4yny2vqpks0ykb','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebf95adx9k5862287mc2','assistant',CAST('{"id":"m_01m8pvebfe3d4yny2vqpks0ykb","parent_id":"m_01m8pvebf95adx9k5862287mc2","role":"assistant","blocks":[{"text":"Sunny.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(15,'m_01m8pvebfxxg50300g0wr9xwk8','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebfe3d4yny2vqpks0ykb','user',CAST('{"id":"m_01m8pvebfxxg50300g0wr9xwk8","parent_id":"m_01m8pvebfe3d4yny2vqpks0ykb","role":"user","blocks":[{"text":"And now?","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":null,"status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(16,'m_01m8pvebfz56nrgs3sqghdbsp0','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebfxxg50300g0wr9xwk8','notice',CAST('{"id":"m_01m8pvebfz56nrgs3sqghdbsp0","parent_id":"m_01m8pvebfxxg50300g0wr9xwk8","role":"notice","blocks":[{"text":"Switched on again: bash.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebfymf09b20hrxkbe47z","status":"complete","model":null,"override":null,"sender":null}' AS BLOB));
INSERT INTO "messages" VALUES(17,'m_01m8pvebfzh7ahzr4cd9k7cqgn','s_01m8pvebe9p34hm4hn1t5g0x6f','m_01m8pvebfz56nrgs3sqghdbsp0','assistant',CAST('{"id":"m_01m8pvebfzh7ahzr4cd9k7cqgn","parent_id":"m_01m8pvebfz56nrgs3sqghdbsp0","role":"assistant","blocks":[{"text":"On again.","type":"text"}],"created_at":"2026-01-01T12:00:00.000Z","turn_id":"t_01m8pvebfymf09b20hrxkbe47z","status":"complete","model":"fake/model","override":null,"sender":null}' AS BLOB));
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
INSERT INTO "requests" VALUES('u_ada','client_64','70e410d0940b4d947664d85c0bf304e0',CAST('{"type":"ack","id":"client_64","session_id":"s_01m8pvebe9p34hm4hn1t5g0x6f","message_id":"m_01m8pvebeahmrsybdwbw4jh5p2","queued":false}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_65','3d3f5ac077efc0fcafc2a1f93ba80db5',CAST('{"type":"ack","id":"client_65","session_id":"s_01m8pvebe9p34hm4hn1t5g0x6f","revision":1,"applies":"now"}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_66','4b7e63af97ab26b334b71d86308b5348',CAST('{"type":"ack","id":"client_66","session_id":"s_01m8pvebe9p34hm4hn1t5g0x6f","message_id":"m_01m8pvebejh16d5xkx7058z811","queued":false}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_67','b95b5217f549af09915f66f40ce19fd4',CAST('{"type":"ack","id":"client_67","session_id":"s_01m8pvebe9p34hm4hn1t5g0x6f","message_id":"m_01m8pvebf1zv2h39z0308cvbej","queued":false}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_68','93392186d142288b51288c2a8113ef69',CAST('{"type":"ack","id":"client_68","session_id":"s_01m8pvebe9p34hm4hn1t5g0x6f","revision":2,"applies":"now"}' AS BLOB),'2026-01-01T12:00:00.000Z');
INSERT INTO "requests" VALUES('u_ada','client_69','5ed5ea595196c491b16c447d06dbf3cf',CAST('{"type":"ack","id":"client_69","session_id":"s_01m8pvebe9p34hm4hn1t5g0x6f","message_id":"m_01m8pvebfxxg50300g0wr9xwk8","queued":false}' AS BLOB),'2026-01-01T12:00:00.000Z');
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
INSERT INTO "session_config" VALUES('s_01m8pvebe9p34hm4hn1t5g0x6f',NULL,NULL,NULL,'[]',NULL,NULL,2);
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
INSERT INTO "sessions" VALUES('s_01m8pvebe9p34hm4hn1t5g0x6f','u_ada','Hello','2026-01-01T12:00:00.000Z','2026-01-01T12:00:00.000Z',1,0,0,NULL,'auto',NULL,'m_01m8pvebfzh7ahzr4cd9k7cqgn',NULL,NULL,CAST('{"model":"fake/model","epoch":1,"declared":[{"name":"bash","description":"Does bash.","parameters":{"type":"object","properties":{},"additionalProperties":false}},{"name":"notes","description":"Does notes.","parameters":{"type":"object","properties":{},"additionalProperties":false}},{"name":"read","description":"Does read.","parameters":{"type":"object","properties":{},"additionalProperties":false}},{"name":"tool_search","description":"Find tools that are not loaded yet, with their schemas. Load what you need by name; it can be called in your next step.","parameters":{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, in plain words; or select:NAME,NAME to load"}},"required":["query"],"additionalProperties":false}},{"name":"weather","description":"Does weather.","parameters":{"type":"object","properties":{},"additionalProperties":false}}],"masked":[],"system_digest":"22da7b0df18574a2847676e562bda20f","last_request_at":1767268800.0,"catalog":"","strategy":"frozen","deferred":[],"deltas":[],"shown":"m_01m8pvebfz56nrgs3sqghdbsp0","thinking_after":null}' AS BLOB),NULL,CAST('{"turn_id":"t_01m8pvebfymf09b20hrxkbe47z","reason":"done","error":null,"type":"turn_finished"}' AS BLOB),'2026-01-01T12:00:00.000Z',NULL,1);
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
INSERT INTO "usage" VALUES(1,'s_01m8pvebe9p34hm4hn1t5g0x6f','t_01m8pvebeap81nkmv43684qe0e',1,'2026-01-01T12:00:00.000Z','fake/model',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'m_01m8pvebedfbx4f2epamt6cy0v',CAST('{"turn_id":"t_01m8pvebeap81nkmv43684qe0e","step":1,"message_id":"m_01m8pvebedfbx4f2epamt6cy0v","model":"fake/model","usage":{"uncached":null,"cache_read":null,"cache_write_5m":null,"cache_write_1h":null,"output":null,"reasoning":null},"cost":null,"cache":{"read":null,"missed":null,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(2,'s_01m8pvebe9p34hm4hn1t5g0x6f','t_01m8pvebekq4anm2azg8dsq8cp',1,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pvebemajyjqrqcn5wpm4a8',CAST('{"turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","step":1,"message_id":"m_01m8pvebemajyjqrqcn5wpm4a8","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":null,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(3,'s_01m8pvebe9p34hm4hn1t5g0x6f','t_01m8pvebekq4anm2azg8dsq8cp',2,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pveberk286tcrx23yc1jsg',CAST('{"turn_id":"t_01m8pvebekq4anm2azg8dsq8cp","step":2,"message_id":"m_01m8pveberk286tcrx23yc1jsg","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(4,'s_01m8pvebe9p34hm4hn1t5g0x6f','t_01m8pvebf1z4d7ezs1dejehd9r',1,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pvebf28j794f6ps9bgzhtq',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","step":1,"message_id":"m_01m8pvebf28j794f6ps9bgzhtq","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(5,'s_01m8pvebe9p34hm4hn1t5g0x6f','t_01m8pvebf1z4d7ezs1dejehd9r',2,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pvebf83k8sbv6sxb1eg9hh',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","step":2,"message_id":"m_01m8pvebf83k8sbv6sxb1eg9hh","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":null,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(6,'s_01m8pvebe9p34hm4hn1t5g0x6f','t_01m8pvebf1z4d7ezs1dejehd9r',3,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pvebfe3d4yny2vqpks0ykb',CAST('{"turn_id":"t_01m8pvebf1z4d7ezs1dejehd9r","step":3,"message_id":"m_01m8pvebfe3d4yny2vqpks0ykb","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
INSERT INTO "usage" VALUES(7,'s_01m8pvebe9p34hm4hn1t5g0x6f','t_01m8pvebfymf09b20hrxkbe47z',1,'2026-01-01T12:00:00.000Z','fake/model',10,0,NULL,NULL,5,NULL,NULL,'m_01m8pvebfzh7ahzr4cd9k7cqgn',CAST('{"turn_id":"t_01m8pvebfymf09b20hrxkbe47z","step":1,"message_id":"m_01m8pvebfzh7ahzr4cd9k7cqgn","model":"fake/model","usage":{"uncached":10,"cache_read":0,"cache_write_5m":null,"cache_write_1h":null,"output":5,"reasoning":null},"cost":null,"cache":{"read":0,"missed":10,"cause":null},"first_token_ms":0,"duration_ms":0,"type":"step_finished"}' AS BLOB));
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
