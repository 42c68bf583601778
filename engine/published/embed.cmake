# cmake -DOUTPUT=… -DTABLE=… -P embed.cmake: the table as text in a C++ source.
file(READ "${TABLE}" text)
file(WRITE "${OUTPUT}" "#include \"engine/published/rows.h\"\n\nnamespace heddle::published {\n\n"
  "const char* built_in() {\n  return R\"csv(${text})csv\";\n}\n\n}  // namespace heddle::published\n")
