// Written by make_subwords.py with tokenizers 0.23.3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace golden {

inline const std::vector<std::string> subword_sentences{"the lower rows show the newest results",
                                                        "a low tower stands below the old town",
                                                        "aaaa aaa aa a banana bandana",
                                                        "die längste Straße führt über die Brücke",
                                                        "Zwei Männer grüßen einen älteren Mann .",
                                                        "the theatre is there , they say",
                                                        "über den Flüssen fließt nichts",
                                                        "lower and slower , slower and lower",
                                                        "ein Mann und eine Frau und ein Hund",
                                                        "« où est-il ? » 東京 42 421 4242",
                                                        "ĵķļ ĵķļ ĵķļ ńĵķ ńĵķ ķļ ķļ ķļ ķļ ķļ ķļ ķļ ķļ ķļ ķļ"};
inline const std::vector<std::string> subword_tests{"the lowest towers", "eine Straße über den Fluss", "aaaaaaa",
                                                    "Ωmega x",           "banana , bananas",           "42424"};
inline const std::vector<std::string> subword_names{
    "<pad>",    "<unknown>", "<begin>",  "<end>",   ",",       "-",        ".",       "1",       "2",       "4",
    "?",        "B",         "F",        "H",       "M",       "S",        "Z",       "a",       "b",       "c",
    "d",        "e",         "f",        "g",       "h",       "i",        "k",       "l",       "n",       "o",
    "r",        "s",         "t",        "u",       "w",       "y",        "«",       "»",       "ß",       "ä",
    "ù",        "ü",         "ĵ",        "ķ",       "ļ",       "ń",        "▁",       "京",      "東",      "ķļ",
    "er",       "ow",        "▁ķļ",      "an",      "▁t",      "low",      "▁th",     "aa",      "▁the",    "ei",
    "en",       "▁s",        "lower",    "42",      "▁ei",     "and",      "▁ein",    "es",      "ie",      "nd",
    "und",      "ĵķļ",       "▁M",       "▁b",      "▁d",      "▁aa",      "▁lower",  "▁42",     "▁ĵķļ",    "ber",
    "lt",       "ra",        "rü",       "än",      "über",    "ĵķ",       "ńĵķ",     "▁,",      "▁F",      "▁a",
    "▁f",       "▁n",        "▁o",       "▁r",      "▁and",    "▁und",     "▁über",   "▁ńĵķ",    "ana",     "ann",
    "▁tow",     "▁slower",   "est",      "▁Mann",   "▁die",    "-i",       "Brü",     "Hund",    "St",      "Zw",
    "at",       "ay",        "ch",       "ck",      "ew",      "elow",     "gs",      "grü",     "hr",      "how",
    "is",       "ich",       "ld",       "lü",      "lie",     "län",      "ner",     "re",      "ss",      "te",
    "ts",       "tand",      "ult",      "ße",      "ßt",      "ßen",      "ält",     "ühr",     "▁.",      "▁?",
    "▁«",       "▁»",        "▁東",      "▁low",    "▁est",    "▁Brü",     "▁Hund",   "▁St",     "▁Zw",     "▁grü",
    "▁is",      "▁län",      "▁ält",     "ere",     "eren",    "ows",      "anana",   "▁there",  "▁they",   "▁theat",
    "▁say",     "▁show",     "▁stand",   "andana",  "▁eine",   "▁einen",   "esult",   "▁Män",    "▁below",  "▁banana",
    "▁bandana", "▁den",      "▁aaa",     "▁aaaa",   "▁421",    "▁4242",    "rau",     "raße",    "▁Flü",    "▁Frau",
    "▁flie",    "▁führ",     "▁new",     "▁nich",   "▁où",     "▁old",     "▁rows",   "▁result", "▁town",   "▁tower",
    "-il",      "cke",       "gste",     "ssen",    "▁東京",   "▁est-il",  "▁Brücke", "▁Straße", "▁Zwei",   "▁grüßen",
    "▁längste", "▁älteren",  "▁theatre", "▁stands", "▁Männer", "▁Flüssen", "▁fließt", "▁führt",  "▁newest", "▁nichts",
    "▁results"};
inline const std::vector<std::vector<std::int32_t>> subword_tokens{
    // of the sentences and the tests
    {58, 76, 186, 161, 58, 208, 210},
    {89, 143, 189, 203, 168, 58, 185, 188},
    {173, 172, 75, 89, 169, 170},
    {104, 200, 197, 207, 96, 104, 196},
    {198, 204, 199, 165, 201, 103, 138},
    {58, 202, 150, 157, 87, 158, 160},
    {96, 171, 205, 206, 209},
    {76, 94, 101, 87, 101, 94, 76},
    {66, 103, 95, 164, 179, 95, 66, 146},
    {140, 184, 195, 139, 141, 194, 77, 174, 175},
    {78, 78, 78, 97, 97, 52, 52, 52, 52, 52, 52, 52, 52, 52, 52},
    {58, 143, 102, 189, 31},
    {164, 197, 96, 171, 88, 27, 33, 128},
    {173, 57, 17},
    {46, 1, 1, 21, 23, 17, 46, 1},
    {169, 87, 169, 31},
    {175, 9}};

}  // namespace golden
